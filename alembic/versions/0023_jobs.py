"""Jobs: sources to be indexed by workers, and the uploads that they read.

Revision ID: 0023
Revises: 0022
"""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

# A job names its version by its label: it may make the version, and outlive it. Pieces of an upload
# are mostly archives, which do not compress.
TABLES = """
create table pgrag.jobs (
    job_id bigint generated always as identity primary key,
    library text not null,
    version text not null,
    arguments jsonb not null,
    confined boolean not null,
    asked_by text not null,
    priority smallint not null,
    state text not null
        check (state in ('uploading', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
    attempts integer not null default 0,
    max_attempts integer not null check (max_attempts between 1 and 100),
    failures jsonb not null default '[]',
    run_at timestamptz not null,
    every interval check (every >= interval '1 minute'),
    claim integer not null default 0,
    worker text,
    leased_until timestamptz,
    is_cancelling boolean not null default false,
    progress jsonb,
    report jsonb,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz,
    constraint jobs_running_check check ((state = 'running') = (leased_until is not null))
);
create index jobs_queue on pgrag.jobs (priority desc, run_at, job_id) where state = 'queued';
create unique index jobs_running on pgrag.jobs (library, version) where state = 'running';
create index jobs_version on pgrag.jobs (library, version, job_id);
create index jobs_finished on pgrag.jobs (finished_at);

create table pgrag.uploads (
    job_id bigint not null references pgrag.jobs on delete cascade,
    file integer not null,
    piece integer not null,
    name text not null,
    media_type text not null,
    data bytea not null,
    primary key (job_id, file, piece)
);
alter table pgrag.uploads alter column data set storage external;
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute("drop table pgrag.uploads, pgrag.jobs")
