"""Content tags and keywords of documents.

Revision ID: 0005
Revises: 0004
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


COLUMNS = """
alter table pgrag.documents
    add column content_tags text[] not null default '{}',
    add column keywords text[] not null default '{}'
"""


def upgrade() -> None:
    op.execute(COLUMNS)


def downgrade() -> None:
    op.execute("alter table pgrag.documents drop column content_tags, drop column keywords")
