"""Hits name the sections beside theirs.

Revision ID: 0017
Revises: 0016
"""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

HITS = ("hit", "batch_hit")


def upgrade() -> None:
    for name in HITS:
        op.execute(f"alter type pgrag.{name} add attribute sibling_sections bigint[]")


def downgrade() -> None:
    for name in HITS:
        op.execute(f"alter type pgrag.{name} drop attribute sibling_sections")
