"""The barrier before the index of impacts passes on what ranking reads, without titles.

Each passed row is copied, so a column that nobody reads costs every restricted search time. A view
cannot lose a column; that of this state is made with the functions.

Revision ID: 0033
Revises: 0032
"""

from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")


def downgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")
