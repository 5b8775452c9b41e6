"""Passages of the pages that a filter allows, and pages of a type, are found by an index.

Revision ID: 0047
Revises: 0046
"""

from alembic import op

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create index impacts_page on pgrag.impacts (library_id, page_id);
        -- With all that a search by type needs of a page, also of those of other types.
        create index pages_type_name on pgrag.pages (library_id, version_id, type)
            include (page_id, document_count);
    """)


def downgrade() -> None:
    op.execute("drop index pgrag.pages_type_name; drop index pgrag.impacts_page")
