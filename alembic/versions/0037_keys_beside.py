"""The barrier before the index of impacts narrows by two sets of keys.

Its function has another signature, which `create or replace` cannot give it; that of this state is
made with the functions.

Revision ID: 0037
Revises: 0036
"""

from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")
    op.execute("drop function if exists _pgrag.narrowed_keys()")


def downgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")
    op.execute("drop function if exists _pgrag.narrowed_keys(text)")
