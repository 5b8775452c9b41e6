"""A second barrier before the index of impacts, whose way down this is; the functions make it.

Revision ID: 0037
Revises: 0036
"""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    op.execute("drop view if exists _pgrag.impacts_matching_both")
    op.execute("drop function if exists _pgrag.visible_keys(text)")
