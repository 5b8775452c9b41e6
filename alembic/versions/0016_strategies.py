"""Strategies set further arguments, hits may be reranked, recorded hits keep the graph's parts.

Revision ID: 0016
Revises: 0015
"""

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        -- Arguments of searches, contexts and answers that the strategy sets, by name.
        alter table pgrag.intents add column arguments jsonb not null default '{}';
        alter table pgrag.query_types add column arguments jsonb not null default '{}';
        -- The parts of a score with links; null without.
        alter table pgrag.search_hits add column graph jsonb;
        -- The score of each document by a reranker.
        alter type _pgrag.search_request add attribute reranked jsonb;
        alter type pgrag.context_block add attribute hybrid_score double precision;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        alter type pgrag.context_block drop attribute hybrid_score;
        alter type _pgrag.search_request drop attribute reranked;
        alter table pgrag.search_hits drop column graph;
        alter table pgrag.query_types drop column arguments;
        alter table pgrag.intents drop column arguments;
        """
    )
