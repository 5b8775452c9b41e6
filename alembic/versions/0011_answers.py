"""Answers: strategies of intents, what language models wrote, and what was answered.

Revision ID: 0011
Revises: 0010
"""

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

# An enrichment is kept by what was asked of whom (the model, the prompt's version, the hash of the
# text that went into it), not by where its result stands: the same question is never asked twice.
TABLES = """
create table pgrag.answer_templates (
    name text primary key check (name ~ '^[a-z][a-z0-9_-]{0,49}$'),
    description text not null default '',
    system text not null check (system ~ '[^[:space:]]'),
    prompt text not null check (prompt ~ '[^[:space:]]')
);

create table pgrag.enrichments (
    library_id bigint not null references pgrag.libraries (library_id) on delete cascade,
    kind text not null check (kind in ('context', 'summary')),
    input_hash uuid not null,
    model text not null,
    prompt_version text not null,
    text text not null,
    prompt_tokens integer,
    completion_tokens integer,
    created_at timestamptz not null default now(),
    primary key (library_id, kind, input_hash, model, prompt_version)
);

create table pgrag.enrichment_failures (
    library_id bigint not null,
    document_id bigint not null,
    kind text not null check (kind in ('context', 'summary')),
    model text not null,
    input_hash uuid not null,
    reason text not null,
    attempts integer not null default 1,
    failed_at timestamptz not null default now(),
    primary key (library_id, document_id, kind),
    foreign key (library_id, document_id)
        references pgrag.documents (library_id, document_id) on delete cascade
);

create table pgrag.answers (
    search_id uuid primary key,
    at timestamptz not null default now(),
    client text not null,
    question text not null,
    library text,
    version text,
    intent text,
    model text,
    status text not null check (
        status in ('answered', 'not_in_documentation', 'failed', 'cancelled')
    ),
    answer text not null default '',
    citations jsonb not null default '[]',
    trace jsonb,
    prompt_tokens integer,
    completion_tokens integer,
    timings jsonb not null default '{}'
);
create index answers_at on pgrag.answers (at);

create type pgrag.answer_material as (
    intent text,
    query_type text,
    decided_by text,
    rule text,
    strategy jsonb,
    messages jsonb,
    sources jsonb,
    tokens integer,
    timings jsonb
);
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(
        """
        alter table pgrag.intents
            add column template text references pgrag.answer_templates (name)
                deferrable initially deferred,
            add column inject_types text[] not null default '{}',
            add column levels integer[]
                check (levels <@ '{0,1,2}' and cardinality(levels) > 0);
        -- situation: what a model wrote to place the document on its page; searched and embedded,
        -- never shown. extract: the page's own sentences, where a model's summary is the content.
        alter table pgrag.documents
            add column situation text not null default '',
            add column extract text;
        alter table pgrag.documents alter column extract set statistics 0;
        alter table pgrag.documents alter column situation set statistics 0;
        alter table pgrag.embedding_models
            drop constraint embedding_models_provider_check,
            add constraint embedding_models_provider_check
                check (provider in ('builtin', 'openai', 'local', 'custom'));
        create index pages_type on pgrag.pages (library_id, version_id, lower(type))
            where type is not null;
        -- Of a vector pooled from a whole page: the hash of the page's text then.
        alter table pgrag.embeddings add column page_hash uuid;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        update pgrag.embedding_models set provider = 'custom' where provider = 'local';
        alter table pgrag.embedding_models
            drop constraint embedding_models_provider_check,
            add constraint embedding_models_provider_check
                check (provider in ('builtin', 'openai', 'custom'));
        -- What was pooled from pages is no vector of the text alone.
        delete from pgrag.embeddings where page_hash is not null;
        alter table pgrag.embeddings drop column page_hash;
        alter table pgrag.documents drop column extract, drop column situation;
        alter table pgrag.intents
            drop column levels, drop column inject_types, drop column template;
        drop index pgrag.pages_type;
        drop table pgrag.answers, pgrag.enrichment_failures, pgrag.enrichments,
            pgrag.answer_templates;
        drop type pgrag.answer_material;
        -- What a model wrote cannot be taken out of vectors and texts: read the pages again.
        update pgrag.pages set source_hash = '';
        """
    )
