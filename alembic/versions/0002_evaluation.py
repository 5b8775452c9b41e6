"""Evaluation: labelled sets, their judgements, runs and what they returned.

Revision ID: 0002
Revises: 0001
"""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# A run keeps its own copy of the queries and judgements: a set may be replaced or removed, a
# library indexed anew, and the run still says what was asked, expected and returned.
TABLES = """
create table pgrag.evaluation_sets (
    set_id bigint generated always as identity primary key,
    name text not null unique check (name ~ '^[a-z0-9][a-z0-9._-]{0,79}$'),
    library text not null,
    unit text not null check (unit in ('page', 'section', 'document')),
    digest text not null,
    source jsonb not null default '{}',
    created_at timestamptz not null default now()
);

create table pgrag.evaluation_queries (
    set_id bigint not null references pgrag.evaluation_sets (set_id) on delete cascade,
    query_id text collate "C" not null,
    query text not null,
    excluded text[] not null default '{}',
    primary key (set_id, query_id)
);

create table pgrag.evaluation_judgements (
    set_id bigint not null,
    query_id text collate "C" not null,
    target text collate "C" not null,
    grade integer not null check (grade >= 0),
    primary key (set_id, query_id, target),
    foreign key (set_id, query_id)
        references pgrag.evaluation_queries (set_id, query_id) on delete cascade
);

create table pgrag.evaluation_runs (
    run_id bigint generated always as identity primary key,
    set_name text not null,
    set_digest text not null,
    unit text not null,
    name text not null,
    configuration jsonb not null,
    library text not null,
    version text not null,
    model text,
    settings jsonb not null,
    functions text,
    query_count integer not null,
    averages jsonb not null default '{}',
    started_at timestamptz not null,
    finished_at timestamptz
);
create index evaluation_runs_set on pgrag.evaluation_runs (set_name);

create table pgrag.evaluation_run_queries (
    run_id bigint not null references pgrag.evaluation_runs (run_id) on delete cascade,
    query_id text collate "C" not null,
    query text not null,
    excluded text[] not null,
    judgements jsonb not null,
    primary key (run_id, query_id)
);

create table pgrag.evaluation_results (
    run_id bigint not null,
    query_id text collate "C" not null,
    rank integer not null,
    target text collate "C" not null,
    document_id bigint,
    score double precision,
    primary key (run_id, query_id, rank),
    foreign key (run_id, query_id)
        references pgrag.evaluation_run_queries (run_id, query_id) on delete cascade
);

create type pgrag.evaluated_hit as (
    query_id text,
    rank integer,
    target text,
    document_id bigint,
    score double precision,
    explanation jsonb
);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        """
        drop type pgrag.evaluated_hit;
        drop table pgrag.evaluation_results, pgrag.evaluation_run_queries, pgrag.evaluation_runs,
            pgrag.evaluation_judgements, pgrag.evaluation_queries, pgrag.evaluation_sets
        """
    )
