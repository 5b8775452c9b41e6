"""Libraries, versions, pages, documents, embeddings and the statistics that rank them.

Revision ID: 0001
Revises:
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = """
create table pgrag.installed_functions (
    digest text primary key,
    installed_at timestamptz not null default now()
);

create table pgrag.embedding_models (
    model_id bigint generated always as identity primary key,
    name text not null unique,
    provider text not null check (provider in ('builtin', 'openai', 'custom')),
    dimensions integer not null check (dimensions between 1 and 4000),
    query_prefix text not null default '',
    document_prefix text not null default '',
    alpha double precision check (alpha between 0 and 1),
    checksum text,
    settings jsonb not null default '{}',
    created_at timestamptz not null default now()
);

create table pgrag.libraries (
    library_id bigint generated always as identity primary key,
    name text not null unique check (name ~ '^[a-z0-9][a-z0-9._/-]{0,99}$'),
    language text not null default 'english',
    model_id bigint references pgrag.embedding_models (model_id),
    settings jsonb not null default '{}',
    created_at timestamptz not null default now()
);

create table pgrag.versions (
    library_id bigint not null references pgrag.libraries (library_id),
    version_id bigint generated always as identity,
    label text not null check (label = lower(btrim(label))),
    class text not null check (class in ('semver', 'partial', 'tag', 'unversioned')),
    release_key text collate "C",
    prerelease boolean not null default false,
    status text not null default 'indexing' check (status in ('indexing', 'ready')),
    source jsonb not null default '{}',
    page_count integer not null default 0,
    document_count integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    primary key (library_id, version_id),
    unique (library_id, label)
);

create table pgrag.pages (
    library_id bigint not null,
    page_id bigint generated always as identity,
    version_id bigint not null,
    key text not null,
    url text not null,
    title text not null,
    path text[] not null default '{}',
    front_matter jsonb not null default '{}',
    uuid text,
    link text,
    topic text,
    type text,
    tags text[] not null default '{}',
    language text not null,
    created timestamptz,
    modified timestamptz,
    source_hash text not null,
    warnings text[] not null default '{}',
    document_count integer not null default 0,
    indexed_at timestamptz not null default now(),
    length real not null default 0,
    body text not null,
    weights sparsevec,
    primary key (library_id, page_id),
    foreign key (library_id, version_id) references pgrag.versions (library_id, version_id)
) with (toast_tuple_target = 128);
alter table pgrag.pages alter column weights set storage external;
alter table pgrag.pages alter column front_matter set storage main;

create unique index pages_key on pgrag.pages (library_id, version_id, key);
create index pages_uuid on pgrag.pages (library_id, uuid) where uuid is not null;
create index pages_tags on pgrag.pages using gin (tags);
create index pages_front_matter on pgrag.pages using gin (front_matter jsonb_path_ops);

create table pgrag.documents (
    library_id bigint not null,
    document_id bigint generated always as identity,
    version_id bigint not null,
    page_id bigint not null,
    parent_id bigint,
    level smallint not null check (level between 0 and 2),
    covers smallint not null check (covers between 0 and 7),
    sort_order integer not null,
    heading_level smallint not null default 0,
    depth smallint not null default 0,
    line_start integer not null default 0,
    line_end integer not null default 0,
    is_summary boolean not null default false,
    text_hash uuid not null,
    language text not null,
    position text not null default 'middle',
    anchor text not null default '',
    heading text not null default '',
    root_section text not null default '',
    types text[] not null default '{}',
    path text[] not null default '{}',
    overlap text not null default '',
    content text not null,
    search tsvector,
    weights sparsevec,
    primary key (library_id, document_id),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
) with (toast_tuple_target = 128);
alter table pgrag.documents alter column weights set storage main;

create index documents_page on pgrag.documents (library_id, page_id, sort_order);
create index documents_parent on pgrag.documents (library_id, parent_id);
create index documents_text_hash on pgrag.documents (library_id, text_hash);
create index documents_search on pgrag.documents
    using gin (search) with (fastupdate = on, gin_pending_list_limit = 32768);

create table pgrag.embeddings (
    library_id bigint not null,
    document_id bigint not null,
    model_id bigint not null references pgrag.embedding_models (model_id),
    version_id bigint not null,
    page_id bigint not null,
    covers smallint not null,
    embedding halfvec not null,
    primary key (library_id, document_id, model_id),
    foreign key (library_id, document_id)
        references pgrag.documents (library_id, document_id) on delete cascade
);
alter table pgrag.embeddings alter column embedding set storage plain;
create index embeddings_scope
    on pgrag.embeddings (library_id, model_id, version_id, page_id);

create table pgrag.model_tokens (
    model_id bigint not null references pgrag.embedding_models (model_id) on delete cascade,
    token text collate "C" not null,
    prefix_lengths smallint[] not null,
    embedding halfvec not null,
    primary key (model_id, token)
);
alter table pgrag.model_tokens alter column embedding set storage plain;

create table pgrag.query_vectors (
    model_id bigint not null references pgrag.embedding_models (model_id) on delete cascade,
    query_hash uuid not null,
    embedding halfvec not null,
    used_at timestamptz not null default now(),
    primary key (model_id, query_hash)
);

create table pgrag.corpus_statistics (
    library_id bigint not null references pgrag.libraries (library_id),
    language text not null,
    document_count bigint not null default 0,
    total_length double precision not null default 0,
    average_length double precision not null,
    page_count bigint not null default 0,
    total_page_length double precision not null default 0,
    average_page_length double precision not null,
    primary key (library_id, language)
);

create table pgrag.lexeme_statistics (
    library_id bigint not null references pgrag.libraries (library_id),
    language text not null,
    lexeme text collate "C" not null,
    document_count integer not null,
    largest_impact real not null,
    primary key (library_id, language, lexeme)
) with (fillfactor = 70);

-- A library that is new since the last analyze would be estimated at one row, and every index that
-- begins with library_id would look as good as the right one. Without statistics the planner takes
-- one library in two hundred, and goes by the other columns. Text is never compared: no statistics.
alter table pgrag.pages alter column library_id set statistics 0;
alter table pgrag.pages alter column body set statistics 0;
alter table pgrag.pages alter column weights set statistics 0;
alter table pgrag.documents alter column library_id set statistics 0;
alter table pgrag.documents alter column content set statistics 0;
alter table pgrag.documents alter column overlap set statistics 0;
alter table pgrag.documents alter column weights set statistics 0;
alter table pgrag.embeddings alter column library_id set statistics 0;
alter table pgrag.embeddings alter column embedding set statistics 0;
alter table pgrag.lexeme_statistics alter column library_id set statistics 0;

create type pgrag.query_term as (
    library_id bigint,
    language text,
    lexeme text,
    frequency integer,
    document_count integer,
    idf double precision,
    weight double precision,
    bound double precision
);

create type pgrag.search_target as (
    library_ids bigint[],
    version_ids bigint[],
    scope text,
    covers integer,
    document_count bigint,
    allowed_pages bigint[],
    allowed_documents bigint[],
    denied_documents bigint[]
);

create type pgrag.library_query as (
    library_id bigint,
    model_id bigint,
    keywords sparsevec,
    embedding halfvec,
    alpha double precision,
    page_evidence double precision
);

create type pgrag.search_request as (
    query text,
    words text,
    terms pgrag.query_term[],
    target pgrag.search_target,
    queries pgrag.library_query[],
    fusion text,
    rrf_k integer,
    rrf_weights double precision[],
    min_score double precision,
    match_count integer,
    max_per_page integer,
    after_score double precision,
    after_id bigint,
    start_depth integer,
    collapse boolean,
    candidate_count integer,
    exact_limit integer
);

create type pgrag.candidates as (
    library_ids bigint[],
    document_ids bigint[],
    scores double precision[],
    plan jsonb
);

create type pgrag.ranked_hit as (
    library_id bigint,
    document_id bigint,
    page_id bigint,
    score double precision,
    keyword_score double precision,
    semantic_score double precision,
    passage_score double precision,
    page_score double precision,
    keyword_rank integer,
    semantic_rank integer,
    section_score double precision
);

create type pgrag.ranking as (
    hits pgrag.ranked_hit[],
    listed bigint[],
    bound double precision,
    plans jsonb,
    exhausted boolean
);

create type pgrag.listing as (
    hits pgrag.ranked_hit[],
    depths integer[],
    start_depth integer,
    plans jsonb
);

create type pgrag.hit as (
    document_id bigint,
    page_id bigint,
    library text,
    version text,
    url text,
    title text,
    path text[],
    content text,
    score double precision,
    keyword_score double precision,
    semantic_score double precision,
    key text,
    level smallint,
    heading text,
    anchor text,
    types text[],
    sort_order integer,
    line_start integer,
    line_end integer,
    link text,
    snippet text,
    cursor text,
    explanation jsonb
);

create type pgrag.passage as (
    document_id bigint,
    page_id bigint,
    library text,
    version text,
    url text,
    title text,
    path text[],
    content text,
    score double precision,
    relation text,
    distance integer,
    key text,
    level smallint,
    heading text,
    heading_level smallint,
    depth smallint,
    position text,
    root_section text,
    anchor text,
    types text[],
    sort_order integer,
    overlap text,
    line_start integer,
    line_end integer
);

create type pgrag.context_block as (
    document_id bigint,
    page_id bigint,
    library text,
    version text,
    url text,
    title text,
    path text[],
    content text,
    score double precision,
    relation text,
    tokens integer,
    block text
);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        """
        drop table pgrag.lexeme_statistics, pgrag.corpus_statistics, pgrag.query_vectors,
            pgrag.model_tokens, pgrag.embeddings, pgrag.documents, pgrag.pages, pgrag.versions,
            pgrag.libraries, pgrag.embedding_models, pgrag.installed_functions;
        drop type pgrag.context_block, pgrag.passage, pgrag.hit, pgrag.listing, pgrag.ranking,
            pgrag.ranked_hit, pgrag.candidates, pgrag.search_request, pgrag.library_query,
            pgrag.search_target, pgrag.query_term
        """
    )
