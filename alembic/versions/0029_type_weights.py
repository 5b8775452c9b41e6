"""Words of a query that ask for pages of a type, and the weights of types in every search.

Revision ID: 0029
Revises: 0028
"""

from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        alter table pgrag.page_types add column asked_by text[] not null default '{}';
        alter type _pgrag.library_query add attribute type_weights jsonb;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        alter type _pgrag.library_query drop attribute type_weights;
        alter table pgrag.page_types drop column asked_by;
        """
    )
