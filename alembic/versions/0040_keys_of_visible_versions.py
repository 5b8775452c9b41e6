"""The barrier before the index of impacts makes its keys of the versions that the caller may see.

It needs no function for that, and the functions of keys have other arguments: those of this state
are made with all functions.

Revision ID: 0040
Revises: 0039
"""

from alembic import op

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")
    op.execute("drop function if exists _pgrag.narrowed_keys()")
    op.execute("drop function if exists _pgrag.query_keys(pgrag.query_term[], text[], bigint[])")
    op.execute("drop function if exists _pgrag.lexemes_of_keys(bigint[])")
    op.execute("drop function if exists _pgrag.occurs(bigint, text, text, boolean, text)")


def downgrade() -> None:
    op.execute("drop view if exists _pgrag.matching_impacts")
    op.execute("drop function if exists _pgrag.query_keys(bigint[], bigint[])")
    op.execute("drop function if exists _pgrag.lexeme_ids(pgrag.query_term[], text[])")
    op.execute("drop function if exists _pgrag.lexeme_vector(bigint[])")
    op.execute("drop function if exists _pgrag.occurs(bigint[], text, text, boolean, text)")
