"""Hits are added only to searches of the caller: the policies of search_hits become one.

Revision ID: 0021
Revises: 0020
"""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # The upgrade of the functions makes the policy "visible" anew, now also for what is added.
    op.execute(
        """
        drop policy if exists visible on pgrag.search_hits;
        drop policy if exists recorded on pgrag.search_hits;
        drop policy if exists administered on pgrag.search_hits
        """
    )


def downgrade() -> None:
    op.execute("drop policy if exists visible on pgrag.search_hits")
