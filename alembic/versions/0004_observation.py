"""Observation: recorded searches, their hits, feedback.

Revision ID: 0004
Revises: 0003
"""

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

# What happened outlives what it happened to: no reference leads into a library's tables, and names
# are kept beside ids. No reference leads from a hit to its search either: it would be checked once
# for every hit, and they are written and removed together.
TABLES = """
create table pgrag.searches (
    search_id uuid primary key default gen_random_uuid(),
    at timestamptz not null default now(),
    client text not null,
    query text not null,
    library text,
    version text,
    continued boolean not null default false,
    parameters jsonb not null default '{}',
    timings jsonb not null default '{}',
    duration_ms double precision,
    hit_count integer not null,
    top_score double precision,
    mean_score double precision
);
create index searches_at on pgrag.searches (at);

create table pgrag.search_hits (
    search_id uuid not null,
    rank integer not null,
    library_id bigint,
    page_id bigint,
    document_id bigint,
    library text,
    version text,
    page_key text,
    score double precision,
    hybrid_score double precision,
    keyword_score double precision,
    semantic_score double precision,
    keyword_rank integer,
    semantic_rank integer,
    passage_score double precision,
    page_score double precision,
    section_score double precision,
    primary key (search_id, rank)
);

create table pgrag.feedback (
    search_id uuid not null,
    feedback_id bigint generated always as identity,
    at timestamptz not null default now(),
    document_id bigint,
    rating smallint not null check (rating between 1 and 5),
    comment text,
    primary key (search_id, feedback_id)
);

create table pgrag.observation_settings (
    singleton boolean primary key default true check (singleton),
    retention_days integer check (retention_days between 1 and 36500)
);
insert into pgrag.observation_settings (retention_days) values (90);

create index query_vectors_used on pgrag.query_vectors (model_id, used_at, query_hash);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        """
        drop index pgrag.query_vectors_used;
        drop table pgrag.observation_settings, pgrag.feedback, pgrag.search_hits, pgrag.searches
        """
    )
