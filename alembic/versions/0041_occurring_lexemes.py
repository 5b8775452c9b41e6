"""Whether lexemes occur in a version is asked of all of them at once.

The functions and the view for it are made with all functions.

Revision ID: 0041
Revises: 0040
"""

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("drop function if exists _pgrag.occurs(bigint[], text, text, boolean, text)")
    op.execute("drop function if exists _pgrag.is_headed(bigint, bigint, text)")


def downgrade() -> None:
    op.execute("drop function if exists _pgrag.occurring_lexemes(bigint[], bigint[], bigint[])")
    op.execute("drop view if exists _pgrag.version_lexemes")
    op.execute("drop function if exists _pgrag.heads_section(bigint, bigint[], text)")
