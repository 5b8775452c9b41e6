"""Ranking: what the titles above a passage add.

Revision ID: 0006
Revises: 0005
"""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        alter table pgrag.pages add column title_weights sparsevec;
        alter table pgrag.pages alter column title_weights set storage main;
        alter table pgrag.pages alter column title_weights set statistics 0;
        alter table pgrag.documents add column title_weights sparsevec;
        alter table pgrag.documents alter column title_weights set storage main;
        alter table pgrag.documents alter column title_weights set statistics 0;
        alter type pgrag.library_query
            add attribute title_keywords sparsevec,
            add attribute title_evidence double precision;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        alter type pgrag.library_query
            drop attribute title_evidence,
            drop attribute title_keywords;
        alter table pgrag.documents drop column title_weights;
        alter table pgrag.pages drop column title_weights;
        """
    )
