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
    add column keywords text[] not null default '{}';
-- Facets read these of every page: out of line, each would be a look-up of its own.
alter table pgrag.pages
    alter column topic set storage main,
    alter column type set storage main,
    alter column tags set storage main;
"""


def upgrade() -> None:
    op.execute(COLUMNS)


def downgrade() -> None:
    op.execute(
        """
        alter table pgrag.pages
            alter column topic set storage extended,
            alter column type set storage extended,
            alter column tags set storage extended;
        alter table pgrag.documents drop column content_tags, drop column keywords
        """
    )
