"""The links of a page with what a search with links reads of them, in one index.

It reads some thousand links of a hundred pages; each was a row of 350 bytes elsewhere in the table.

Revision ID: 0026
Revises: 0025
"""

from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        create index edges_links on pgrag.edges (library_id, source_page_id)
        include (target_page_id, kind, confidence, edge_id, place)
        where target_page_id is not null
        """
    )


def downgrade() -> None:
    op.execute("drop index pgrag.edges_links")
