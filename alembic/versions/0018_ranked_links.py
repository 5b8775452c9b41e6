"""Versions know which links their page ranks were computed from.

Revision ID: 0018
Revises: 0017
"""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("alter table pgrag.versions add column ranked_links numeric")


def downgrade() -> None:
    op.execute("alter table pgrag.versions drop column ranked_links")
