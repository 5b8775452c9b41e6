"""Indexes find the passages of allowed pages, and alone suffice for filters by type.

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
        -- Of the type as it is written, with all else that a search needs of a page.
        create index pages_type_name on pgrag.pages (library_id, version_id, type)
            include (page_id, document_count)
            -- All pages, in words that no foreign key has: while the planner knows few pages, any
            -- index of a library looks good for one.
            where document_count >= 0;
    """)


def downgrade() -> None:
    op.execute("drop index pgrag.pages_type_name; drop index pgrag.impacts_page")
