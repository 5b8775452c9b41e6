"""Search: what a request and a hit say besides.

Revision ID: 0007
Revises: 0006
"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        alter type pgrag.search_request
            add attribute intent jsonb,
            add attribute query_filters jsonb,
            add attribute query_expansion text,
            add attribute unit text,
            add attribute aggregate text,
            add attribute hierarchy text,
            add attribute mmr_lambda double precision,
            add attribute after_place integer;
        alter type pgrag.ranked_hit add attribute hybrid_score double precision;
        alter type pgrag.ranking add attribute timings jsonb;
        alter type pgrag.listing
            drop attribute depths,
            drop attribute start_depth,
            add attribute cursors text[],
            add attribute timings jsonb;
        alter type pgrag.hit
            add attribute hybrid_score double precision,
            add attribute search_id uuid;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        alter type pgrag.hit drop attribute search_id, drop attribute hybrid_score;
        alter type pgrag.listing
            drop attribute timings,
            drop attribute cursors,
            drop attribute plans,
            add attribute depths integer[],
            add attribute start_depth integer,
            add attribute plans jsonb;
        alter type pgrag.ranking drop attribute timings;
        alter type pgrag.ranked_hit drop attribute hybrid_score;
        alter type pgrag.search_request
            drop attribute after_place,
            drop attribute mmr_lambda,
            drop attribute hierarchy,
            drop attribute aggregate,
            drop attribute unit,
            drop attribute query_expansion,
            drop attribute query_filters,
            drop attribute intent;
        """
    )
