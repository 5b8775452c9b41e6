"""A search says what it understood of the versions that its query names.

Revision ID: 0030
Revises: 0029
"""

from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter type _pgrag.search_request add attribute notes text[]")


def downgrade() -> None:
    op.execute("alter type _pgrag.search_request drop attribute notes")
