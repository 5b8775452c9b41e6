"""Access, jobs and crawl: who may see what, and sources that workers index.

Jobs and crawls name their version by its label: they precede the version that they fill, and may
outlive it.

Revision ID: 0006_access
Revises: 0005_observation
"""

from alembic import op

revision = "0006_access"
down_revision = "0005_observation"
branch_labels = None
depends_on = None

UPGRADE = """
create table pgrag.role_libraries (
    grant_id bigint generated always as identity primary key,
    role_name text not null,
    library_id bigint references pgrag.libraries (library_id) on delete cascade,
    constraint role_libraries_key unique nulls not distinct (role_name, library_id)
);
create index role_libraries_library on pgrag.role_libraries (library_id);
comment on table pgrag.role_libraries is 'A library a database role may see (row-level security).';
comment on column pgrag.role_libraries.grant_id is 'Number of the grant.';
comment on column pgrag.role_libraries.role_name is 'The role itself, not its members.';
comment on column pgrag.role_libraries.library_id is
    'The library; its removal removes the grants. Null: every library, also later ones.';

create table pgrag.keys (
    key_id bigint generated always as identity primary key,
    name text not null unique,
    kind text not null check (kind in ('secret', 'publishable')),
    role text not null check (role in ('search', 'write', 'admin')),
    libraries text[] not null check (cardinality(libraries) > 0),
    origins text[] not null default '{}',
    rate double precision not null check (rate > 0 and rate <= 10000),
    burst integer not null check (burst between 1 and 1000000),
    concurrency integer not null check (concurrency between 1 and 10000),
    timeout_ms integer check (timeout_ms between 100 and 86400000),
    answers_per_hour integer check (answers_per_hour between 0 and 1000000),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    constraint keys_publishable_check
        check ((kind = 'publishable') = (cardinality(origins) > 0)
            and (kind = 'secret' or (role = 'search' and answers_per_hour is not null))),
    constraint keys_admin_check check (role <> 'admin' or libraries = '{*}')
);
comment on table pgrag.keys is
    'Callers of REST and MCP: what each may do, where and how often. Only the owner reads it.';
comment on column pgrag.keys.key_id is 'The key in the tables of its secrets and usage.';
comment on column pgrag.keys.name is 'Caller in records and audit; not reused after revocation.';
comment on column pgrag.keys.kind is 'secret: for programs; publishable: readable in web pages.';
comment on column pgrag.keys.role is
    'search, write (also change libraries) or admin (also configuration and evaluation).';
comment on column pgrag.keys.libraries is 'Names of the libraries that it may use, or {*} for all.';
comment on column pgrag.keys.origins is 'Web origins (https://docs.example); empty if secret.';
comment on column pgrag.keys.rate is 'Requests a second in the long run, over all services.';
comment on column pgrag.keys.burst is 'Requests that may come at once.';
comment on column pgrag.keys.concurrency is 'Requests that may run at the same time.';
comment on column pgrag.keys.timeout_ms is 'Longest statement; null: as the service allows.';
comment on column pgrag.keys.answers_per_hour is
    'Answers of the language model in an hour; null: as many as requests (secret keys only).';
comment on column pgrag.keys.created_at is 'When it was made.';
comment on column pgrag.keys.expires_at is 'When it stops working; null: never.';
comment on column pgrag.keys.revoked_at is 'When it was revoked; null: it is not.';
comment on column pgrag.keys.last_used_at is 'When it was last used, to the minute; null: never.';

create table pgrag.key_secrets (
    hash bytea primary key check (octet_length(hash) = 32),
    key_id bigint not null references pgrag.keys on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz
);
create index key_secrets_key_id on pgrag.key_secrets (key_id);
comment on table pgrag.key_secrets is 'Hashed secrets of a key; two are valid during a change.';
comment on column pgrag.key_secrets.hash is 'SHA-256 of the secret, shown once and never stored.';
comment on column pgrag.key_secrets.key_id is 'The key.';
comment on column pgrag.key_secrets.created_at is 'When the secret was made.';
comment on column pgrag.key_secrets.expires_at is 'End of grace after a rotation; null: current.';

create unlogged table pgrag.key_usage (
    key_id bigint primary key references pgrag.keys on delete cascade,
    full_at timestamptz not null,
    running timestamptz[] not null default '{}',
    answers integer not null default 0,
    answers_since timestamptz
);
comment on table pgrag.key_usage is
    'What a key uses of its limits. Unlogged: a crash of the server forgets it.';
comment on column pgrag.key_usage.key_id is 'The key; locking it lets one request count at a time.';
comment on column pgrag.key_usage.full_at is
    'When the whole burst is free again (generic cell rate algorithm, ITU-T I.371).';
comment on column pgrag.key_usage.running is 'For each running request, when its count expires.';
comment on column pgrag.key_usage.answers is 'Answers asked for since answers_since.';
comment on column pgrag.key_usage.answers_since is 'Begin of the hour of answers; null: none yet.';

create table pgrag.audit (
    audit_id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    caller text,
    role text,
    action text not null,
    library text,
    allowed boolean not null,
    reason text,
    address text,
    search_id uuid
);
create index audit_at on pgrag.audit (at);
comment on table pgrag.audit is
    'Requests with a key, refused requests, and changes. No foreign keys: it outlives them.';
comment on column pgrag.audit.audit_id is 'Number of the entry.';
comment on column pgrag.audit.at is 'When the request ended, or was refused.';
comment on column pgrag.audit.caller is 'Key by name, or role that changed a key; null: no key.';
comment on column pgrag.audit.role is 'Role of the key: search, write or admin.';
comment on column pgrag.audit.action is 'REST operation, MCP tool, or change of a key by name.';
comment on column pgrag.audit.library is 'Library that the request named; null: several or none.';
comment on column pgrag.audit.allowed is 'Whether the request was let in.';
comment on column pgrag.audit.reason is
    'Why it was refused; null if allowed. A refusal that repeats is kept once a minute.';
comment on column pgrag.audit.address is 'Network address of the caller; null: none.';
comment on column pgrag.audit.search_id is 'The recorded search of the request; null: none.';

-- Without a policy, row-level security keeps these from roles that may read all tables.
alter table pgrag.keys enable row level security;
alter table pgrag.key_secrets enable row level security;
alter table pgrag.key_usage enable row level security;
alter table pgrag.audit enable row level security;

create table pgrag.jobs (
    job_id bigint primary key
        default extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00Z') * 1000000,
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
    reserved_bytes bigint not null default 0,
    uploaded_bytes bigint not null default 0,
    created_at timestamptz not null default now(),
    started_at timestamptz,
    finished_at timestamptz,
    constraint jobs_running_check check ((state = 'running') = (leased_until is not null))
);
create index jobs_queue on pgrag.jobs (asked_by, state, priority desc, run_at, job_id)
    where state in ('uploading', 'queued', 'running');
create index jobs_turns on pgrag.jobs (asked_by, started_at) where started_at is not null;
create index jobs_uploads on pgrag.jobs (asked_by) where reserved_bytes > 0;
create unique index jobs_running on pgrag.jobs (library, version) where state = 'running';
create index jobs_version on pgrag.jobs (library, version, job_id);
create index jobs_finished on pgrag.jobs (finished_at);
create index jobs_state on pgrag.jobs (state, job_id);
comment on table pgrag.jobs is 'Brings a source into a version, which has one running job.';
comment on column pgrag.jobs.job_id is
    'Microseconds from 2026 until it was made: a count would tell of the jobs of others.';
comment on column pgrag.jobs.library is 'Name instead of an id: the job may make the library.';
comment on column pgrag.jobs.version is 'Label: the job may make the version, and outlive it.';
comment on column pgrag.jobs.arguments is 'source and pgrag index options; no source: an upload.';
comment on column pgrag.jobs.confined is 'Reads only what operators allow, without credentials.';
comment on column pgrag.jobs.asked_by is 'Key or role that made it; revoking the key cancels it.';
comment on column pgrag.jobs.priority is '-100 to 100, set by administrators; higher ones first.';
comment on column pgrag.jobs.state is 'uploading, queued, running, succeeded, failed or cancelled.';
comment on column pgrag.jobs.attempts is 'Attempts, also the running one; not those given back.';
comment on column pgrag.jobs.max_attempts is
    'Number of failures after which the job fails for good; a schedule waits for its next time.';
comment on column pgrag.jobs.failures is 'The latest 20: at, attempt, worker and reason.';
comment on column pgrag.jobs.run_at is
    'Earliest start; a failure delays it by 10 seconds, then 20, 40 … up to an hour.';
comment on column pgrag.jobs.every is 'Pause after each end, at least a minute; null: runs once.';
comment on column pgrag.jobs.claim is 'Number of the latest claim; only its worker can write.';
comment on column pgrag.jobs.worker is 'Worker that holds the lease; null unless running.';
comment on column pgrag.jobs.leased_until is 'Lease end, then queued again; null unless running.';
comment on column pgrag.jobs.is_cancelling is 'Cancelled while running; ends at next heartbeat.';
comment on column pgrag.jobs.progress is 'Pages done, in total, passages written; null: none yet.';
comment on column pgrag.jobs.report is 'Of its last success, as pgrag index --json; null: none.';
comment on column pgrag.jobs.reserved_bytes is
    'Bytes kept free for its upload, which count until that is removed; 0: no upload.';
comment on column pgrag.jobs.uploaded_bytes is 'Bytes that are stored of its upload.';
comment on column pgrag.jobs.created_at is 'When it was made.';
comment on column pgrag.jobs.started_at is 'When its last attempt began; null: never.';
comment on column pgrag.jobs.finished_at is
    'When it last ended; a job that is over is removed after 30 days. Null: not ended.';

create table pgrag.uploads (
    job_id bigint not null references pgrag.jobs on delete cascade,
    file integer not null,
    piece integer not null,
    name text not null,
    media_type text not null,
    data bytea not null,
    primary key (job_id, file, piece)
);
-- Pieces are mostly archives, which do not compress.
alter table pgrag.uploads alter column data set storage external;
comment on table pgrag.uploads is 'A piece of a file uploaded for a job; removed when that ends.';
comment on column pgrag.uploads.job_id is 'The job that reads it.';
comment on column pgrag.uploads.file is 'Number of the file in the upload, from 0.';
comment on column pgrag.uploads.piece is 'Number of the piece in the file, from 0.';
comment on column pgrag.uploads.name is 'Path of the file in the upload, repeated in each piece.';
comment on column pgrag.uploads.media_type is 'Content-Type of the file; empty: not stated.';
comment on column pgrag.uploads.data is 'Up to 4 MB. Not compressed, as archives already are.';

create table pgrag.crawls (
    library text not null,
    version text not null,
    number integer not null,
    arguments jsonb not null,
    started_at timestamptz not null default now(),
    finished_at timestamptz,
    primary key (library, version)
);
comment on table pgrag.crawls is
    'The crawl of a website for a version, so that it continues where it stopped.';
comment on column pgrag.crawls.library is 'Name, not id: a crawl precedes its library and version.';
comment on column pgrag.crawls.version is 'Label of the version; empty: unversioned.';
comment on column pgrag.crawls.number is 'Number of the latest crawl of this version, from 1.';
comment on column pgrag.crawls.arguments is 'Site, scope and limits; continued only if the same.';
comment on column pgrag.crawls.started_at is 'When the latest crawl began.';
comment on column pgrag.crawls.finished_at is
    'When it ended; null: not yet. Forgotten if not continued for 30 days.';

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
comment on table pgrag.fetched_pages is 'Addresses of a crawled site: queue and last answers.';
comment on column pgrag.fetched_pages.library is 'Library of the crawl.';
comment on column pgrag.fetched_pages.version is 'Version of the crawl.';
comment on column pgrag.fetched_pages.url is 'Address, at most 2,000 characters.';
comment on column pgrag.fetched_pages.crawl is
    'Number of the last crawl that reached it; a complete crawl removes all others.';
comment on column pgrag.fetched_pages.depth is 'Links from the start; near ones are fetched first.';
comment on column pgrag.fetched_pages.is_queued is 'Whether the current crawl has yet to fetch it.';
comment on column pgrag.fetched_pages.outcome is
    'page, copy of another, moved, skipped (no page, or unwanted) or gone; null: no answer yet.';
comment on column pgrag.fetched_pages.reason is 'Why skipped or gone; of a copy, the page copied.';
comment on column pgrag.fetched_pages.failure is
    'Why it gave no answer this time, so that the last outcome stays; null: it answered.';
comment on column pgrag.fetched_pages.key is 'Key of the page made of it; null: it is no page.';
comment on column pgrag.fetched_pages.canonical is 'Address the page names as its own, if another.';
comment on column pgrag.fetched_pages.media_type is
    'Type of body, as read: HTML, Markdown or PDF; with the charset of its header.';
comment on column pgrag.fetched_pages.etag is 'Validator to skip an unchanged body; null: none.';
comment on column pgrag.fetched_pages.last_modified is 'Validator like etag, as sent; null: none.';
comment on column pgrag.fetched_pages.digest is 'Git blob digest (SHA-1) of body; equal: copies.';
comment on column pgrag.fetched_pages.body is 'What the site sent, until it is indexed; then null.';
comment on column pgrag.fetched_pages.links is 'Addresses it links to, in scope; if moved, target.';
comment on column pgrag.fetched_pages.fetched_at is 'When the stored answer came; null: none yet.';

create table pgrag.indexed_tables (
    library_id bigint primary key references pgrag.libraries on delete cascade,
    source regclass not null,
    indexed_by text not null default current_user,
    columns jsonb not null,
    format text not null check (format in ('text', 'markdown', 'html')),
    url text,
    watched boolean not null
);
comment on table pgrag.indexed_tables is 'Tables of the user whose rows are pages of a library.';
comment on column pgrag.indexed_tables.library_id is 'Library of the rows.';
comment on column pgrag.indexed_tables.source is
    'The table, view or foreign table; follows its name. Without a row in pg_class: dropped.';
comment on column pgrag.indexed_tables.indexed_by is
    'Role whose rights decide which columns and rows may be read, whoever refreshes it.';
comment on column pgrag.indexed_tables.columns is
    'Names of columns by what they are: {"id": ["id"], "text": ["body"], "title": ["subject"], …}.';
comment on column pgrag.indexed_tables.format is 'How the text is read: text, markdown or html.';
comment on column pgrag.indexed_tables.url is
    'Address of a row, with {key} for its key; null: from a column, or the key alone.';
comment on column pgrag.indexed_tables.watched is
    'Whether triggers note changed rows; else each refresh compares all rows.';

-- Appended only: a unique key would let transactions that change the same row wait for each other.
create table pgrag.changed_rows (
    library_id bigint not null,
    change_id bigint generated always as identity,
    row_key text,
    primary key (library_id, change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
comment on table pgrag.changed_rows is 'Rows of indexed tables that refresh_table has yet to read.';
comment on column pgrag.changed_rows.library_id is
    'Library of the table. Not a foreign key: it would lock the library in every change of a row.';
comment on column pgrag.changed_rows.change_id is 'Order of the notes.';
comment on column pgrag.changed_rows.row_key is 'Key of the row; null: all are to be compared.';
"""

DOWNGRADE = """
drop table pgrag.changed_rows, pgrag.indexed_tables, pgrag.fetched_pages, pgrag.crawls,
    pgrag.uploads, pgrag.jobs, pgrag.audit, pgrag.key_usage, pgrag.key_secrets, pgrag.keys,
    pgrag.role_libraries;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
