"""A version's pages are not looked up by the index of their texts.

The keys of a batch were: the index of the texts began with the version too, and looks as good as
that of the keys while a database has few pages, but leads to all pages of the version.

Revision ID: 0036
Revises: 0035
"""

from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        drop index pgrag.pages_body_hash;
        create index pages_body_hash on pgrag.pages (body_hash, version_id)
        """
    )


def downgrade() -> None:
    op.execute(
        """
        drop index pgrag.pages_body_hash;
        create index pages_body_hash on pgrag.pages (version_id, body_hash)
        """
    )
