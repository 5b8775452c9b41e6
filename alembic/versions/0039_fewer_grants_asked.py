"""A search asks for the caller's grants half as often.

The barrier before the index of impacts is dropped with its function, whose signature changes; both
are installed again with all functions.

Revision ID: 0039
Revises: 0038
"""

from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")
    op.execute("drop function if exists _pgrag.narrowed_keys(text)")


def downgrade() -> None:
    op.execute("drop view if exists _pgrag.passages_in_place")
    op.execute("drop view if exists _pgrag.matching_impacts")
    op.execute("drop function if exists _pgrag.narrowed_keys()")
