"""Hits name their chunk, and the sections around theirs.

Revision ID: 0014
Revises: 0013
"""

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

HITS = ("hit", "batch_hit")


def upgrade() -> None:
    for name in HITS:
        op.execute(
            f"""
            alter type pgrag.{name}
                add attribute chunk_key text,
                add attribute has_children boolean,
                add attribute previous_section bigint,
                add attribute next_section bigint
            """
        )


def downgrade() -> None:
    for name in HITS:
        op.execute(
            f"""
            alter type pgrag.{name}
                drop attribute next_section,
                drop attribute previous_section,
                drop attribute has_children,
                drop attribute chunk_key
            """
        )
