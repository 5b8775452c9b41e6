"""What a crawl of a website knows of each address, so that it continues where it stopped.

Revision ID: 0024
Revises: 0023
"""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

# By names, not by ids: a crawl precedes the version that it fills, which may never come to be.
UPGRADE = """
create table pgrag.crawls (
    library text not null,
    version text not null,
    number integer not null,
    arguments jsonb not null,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (library, version)
);
create table pgrag.fetched_pages (
    library text not null,
    version text not null,
    url text not null,
    crawl integer not null,
    depth integer not null,
    is_queued boolean not null default true,
    outcome text check (outcome in ('page', 'copy', 'moved', 'skipped', 'gone')),
    reason text,
    failure text,
    key text,
    canonical text,
    media_type text,
    etag text,
    last_modified text,
    digest text,
    body bytea,
    links text[] not null default '{}',
    fetched_at timestamptz,
    primary key (library, version, url),
    foreign key (library, version) references pgrag.crawls (library, version) on delete cascade
);
create index fetched_pages_queue on pgrag.fetched_pages (library, version, depth, url)
    where is_queued;
create index fetched_pages_digest on pgrag.fetched_pages (library, version, digest)
    where outcome = 'page';
"""
DOWNGRADE = """
drop table pgrag.fetched_pages;
drop table pgrag.crawls;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
