"""Observation and answers: searches, feedback, answers, what language models wrote.

What happened outlives what it happened to: no reference leads into the tables of a library, and
names are kept beside ids. No reference leads from a hit to its search either: it would be checked
for every hit, and both are written and removed together.

Revision ID: 0005_observation
Revises: 0004_understanding
"""

from alembic import op

revision = "0005_observation"
down_revision = "0004_understanding"
branch_labels = None
depends_on = None

UPGRADE = """
create table pgrag.observation_settings (
    singleton boolean primary key default true check (singleton),
    retention_days integer check (retention_days between 1 and 36500),
    audit_days integer default 365 check (audit_days between 1 and 36500)
);
insert into pgrag.observation_settings (retention_days) values (90);
comment on table pgrag.observation_settings is 'How long records are kept: one row.';
comment on column pgrag.observation_settings.singleton is 'Always true: allows one row only.';
comment on column pgrag.observation_settings.retention_days is
    'Days that searches are kept, with hits, ratings and answers; null: forever.';
comment on column pgrag.observation_settings.audit_days is 'Days of audit to keep; null: for ever.';

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
    mean_score double precision,
    caller text,
    confidence double precision
);
create index searches_at on pgrag.searches (at);
comment on table pgrag.searches is
    'A recorded search. Names instead of references: the record outlives what was searched.';
comment on column pgrag.searches.search_id is 'Returned with the hits; named by feedback, answers.';
comment on column pgrag.searches.at is 'When the search was recorded.';
comment on column pgrag.searches.client is 'Program: rest, mcp, cli, sql or a name of its own.';
comment on column pgrag.searches.query is 'What was searched, up to 10,000 characters.';
comment on column pgrag.searches.library is 'Library by name; null: several or all.';
comment on column pgrag.searches.version is 'Label asked for or of all hits; null: no single one.';
comment on column pgrag.searches.continued is 'A further page of results; counts for latency only.';
comment on column pgrag.searches.parameters is 'Arguments besides query, library and version.';
comment on column pgrag.searches.timings is 'Milliseconds by step.';
comment on column pgrag.searches.duration_ms is 'Milliseconds in total; null: not measured.';
comment on column pgrag.searches.hit_count is 'Hits returned.';
comment on column pgrag.searches.top_score is 'Score of the best hit; null without hits.';
comment on column pgrag.searches.mean_score is 'Mean score of the hits; null without hits.';
comment on column pgrag.searches.caller is
    'Key that searched, else the role; roles read only their own. Null: an older record.';
comment on column pgrag.searches.confidence is
    'The largest confidence of a hit; null: none, or not known.';

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
    graph jsonb,
    confidence double precision,
    primary key (search_id, rank)
);
comment on table pgrag.search_hits is
    'A hit of a recorded search, with the parts of its score, to explain its rank later.';
comment on column pgrag.search_hits.search_id is 'The search; a foreign key would cost each hit.';
comment on column pgrag.search_hits.rank is 'Position in the list of hits, from 1.';
comment on column pgrag.search_hits.library_id is 'Library of the hit; null: none that exists.';
comment on column pgrag.search_hits.page_id is 'Page of the hit, which may be gone by now.';
comment on column pgrag.search_hits.document_id is 'Passage of the hit, which may be gone by now.';
comment on column pgrag.search_hits.library is 'Name of the library.';
comment on column pgrag.search_hits.version is 'Label of the version.';
comment on column pgrag.search_hits.page_key is 'Key of the page, which outlives its id.';
comment on column pgrag.search_hits.score is 'What ranked the hit: the reranker''s score if any.';
comment on column pgrag.search_hits.hybrid_score is 'Fused score of retrievers, if score differs.';
comment on column pgrag.search_hits.keyword_score is
    'BM25F with page and title evidence, 0 to 1; null: the keyword retriever did not run.';
comment on column pgrag.search_hits.semantic_score is 'Cosine, at least 0; null: no vector search.';
comment on column pgrag.search_hits.keyword_rank is 'Rank by words; null: not a candidate.';
comment on column pgrag.search_hits.semantic_rank is 'Rank by vectors; null: not a candidate.';
comment on column pgrag.search_hits.passage_score is
    'BM25F of the passage alone, as a share of the query''s maximum; null: not recorded.';
comment on column pgrag.search_hits.page_score is
    'Page evidence: BM25F of the whole page and match of the titles; null: not recorded.';
comment on column pgrag.search_hits.section_score is
    'Score of its section''s summary, which the best paragraph took over; null: its own counts.';
comment on column pgrag.search_hits.graph is 'Votes, centrality and edges; null: without links.';
comment on column pgrag.search_hits.confidence is
    'Whether the passage answers the query, 0 to 1; null: not known.';

create table pgrag.feedback (
    search_id uuid not null,
    feedback_id bigint generated always as identity,
    at timestamptz not null default now(),
    document_id bigint,
    rating smallint not null check (rating between 1 and 5),
    comment text,
    primary key (search_id, feedback_id)
);
comment on table pgrag.feedback is 'A rating of a hit or a whole result; added, never replaced.';
comment on column pgrag.feedback.search_id is 'The search that is rated.';
comment on column pgrag.feedback.feedback_id is 'Number of the rating.';
comment on column pgrag.feedback.at is 'When it was given.';
comment on column pgrag.feedback.document_id is 'Passage rated; null: the whole result or answer.';
comment on column pgrag.feedback.rating is
    '1 useless to 5 exactly what was asked for; as a grade the mean minus 2, at least 0.';
comment on column pgrag.feedback.comment is 'What the reader said; null: nothing.';

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
    timings jsonb not null default '{}',
    caller text
);
create index answers_at on pgrag.answers (at);
comment on table pgrag.answers is 'An answer by a language model from hits of a recorded search.';
comment on column pgrag.answers.search_id is 'Search that found the sources; both share feedback.';
comment on column pgrag.answers.at is 'When the answer was recorded.';
comment on column pgrag.answers.client is 'Program that asked, as in searches.client.';
comment on column pgrag.answers.question is 'The question, up to 10,000 characters.';
comment on column pgrag.answers.library is 'Library by name; null: several or all.';
comment on column pgrag.answers.version is 'Label that was asked for; null: the newest.';
comment on column pgrag.answers.intent is 'Intent that chose the strategy; null: agentic or none.';
comment on column pgrag.answers.model is 'Language model that wrote it; null: not stated.';
comment on column pgrag.answers.status is 'answered, not_in_documentation, failed or cancelled.';
comment on column pgrag.answers.answer is 'The text, as far as it was written.';
comment on column pgrag.answers.citations is 'Citations with a source: number and document_id.';
comment on column pgrag.answers.trace is 'Steps of the agentic mode; null: direct.';
comment on column pgrag.answers.prompt_tokens is 'Tokens the model read, or an estimate.';
comment on column pgrag.answers.completion_tokens is 'Tokens the model wrote, or an estimate.';
comment on column pgrag.answers.timings is 'Milliseconds by step; total is the whole answer.';
comment on column pgrag.answers.caller is
    'Key that asked, else the role; roles read only their own. Null: an older record.';

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
comment on table pgrag.enrichments is
    'What a language model wrote, by its input: the same question is never asked twice.';
comment on column pgrag.enrichments.library_id is 'Library of the passages that share the text.';
comment on column pgrag.enrichments.kind is 'context (of a paragraph), summary (page or section).';
comment on column pgrag.enrichments.input_hash is 'Hash of the input; passages with it share this.';
comment on column pgrag.enrichments.model is 'Language model that wrote it.';
comment on column pgrag.enrichments.prompt_version is
    'Version of the prompt, with the limit of length if it is not the default.';
comment on column pgrag.enrichments.text is 'Goes into documents.situation or documents.content.';
comment on column pgrag.enrichments.prompt_tokens is 'Tokens the model read; null: not counted.';
comment on column pgrag.enrichments.completion_tokens is 'Tokens it wrote; null: not counted.';
comment on column pgrag.enrichments.created_at is 'When it was stored.';

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
comment on table pgrag.enrichment_failures is 'A passage that a model failed on; retried next run.';
comment on column pgrag.enrichment_failures.library_id is 'Library of the passage.';
comment on column pgrag.enrichment_failures.document_id is 'The passage, which stays as it was.';
comment on column pgrag.enrichment_failures.kind is 'context or summary, as in enrichments.';
comment on column pgrag.enrichment_failures.model is 'Language model that failed.';
comment on column pgrag.enrichment_failures.input_hash is 'Hash of the text that the model read.';
comment on column pgrag.enrichment_failures.reason is 'What the model server or text check said.';
comment on column pgrag.enrichment_failures.attempts is 'Failures of this input in a row.';
comment on column pgrag.enrichment_failures.failed_at is 'When it failed last.';

create type pgrag.answer_material as (
    intent text,
    query_type text,
    decided_by text,
    rule text,
    strategy jsonb,
    messages jsonb,
    sources jsonb,
    tokens integer,
    timings jsonb,
    versions jsonb,
    confidence double precision,
    is_answerable boolean
);
"""

DOWNGRADE = """
drop table pgrag.enrichment_failures, pgrag.enrichments, pgrag.answers, pgrag.feedback,
    pgrag.search_hits, pgrag.searches, pgrag.observation_settings;
drop type pgrag.answer_material;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
