"""A page is looked up by its key alone, not by the index of something else.

The planner takes a library for one page in two hundred, because statistics of libraries would call
a new one empty. While a database has few pages, every index that begins with a library then looks
as good as the primary key, and each foreign key to a page read all pages of the library: for every
passage and every link that was stored. A version belongs to one library, so it can come first.

Revision ID: 0032
Revises: 0031
"""

from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        drop index pgrag.pages_key;
        create unique index pages_key on pgrag.pages (version_id, key, library_id);
        drop index pgrag.pages_body_hash;
        create index pages_body_hash on pgrag.pages (version_id, body_hash)
        """
    )


def downgrade() -> None:
    op.execute(
        """
        drop index pgrag.pages_key;
        create unique index pages_key on pgrag.pages (library_id, version_id, key);
        drop index pgrag.pages_body_hash;
        create index pages_body_hash on pgrag.pages (library_id, version_id, body_hash)
        """
    )
