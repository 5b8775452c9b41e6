"""Ranking and vectors: impacts and statistics of BM25F, embeddings and their HNSW index.

What searches read of every candidate stands in narrow tables of its own: impacts and embeddings.

Revision ID: 0002_ranking
Revises: 0001_libraries
"""

from alembic import op

revision = "0002_ranking"
down_revision = "0001_libraries"
branch_labels = None
depends_on = None

UPGRADE = """
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
comment on table pgrag.corpus_statistics is 'BM25F counts by library and language, always current.';
comment on column pgrag.corpus_statistics.library_id is 'Library that is counted.';
comment on column pgrag.corpus_statistics.language is 'Text search configuration that is counted.';
comment on column pgrag.corpus_statistics.document_count is
    'Searchable passages with words: N in idf.';
comment on column pgrag.corpus_statistics.total_length is 'Sum of field-weighted passage lengths.';
comment on column pgrag.corpus_statistics.average_length is
    'Average length in the impacts, rounded to a third of a power of two, so seldom changed.';
comment on column pgrag.corpus_statistics.page_count is 'Pages with words.';
comment on column pgrag.corpus_statistics.total_page_length is 'Sum of pages.length.';
comment on column pgrag.corpus_statistics.average_page_length is
    'Average length in pages.weights, rounded like average_length.';

create table pgrag.lexeme_statistics (
    library_id bigint not null,
    language text not null,
    lexeme text collate "C" not null,
    document_count integer not null,
    largest_impact real not null,
    primary key (library_id, language, lexeme)
) with (fillfactor = 70);
alter table pgrag.lexeme_statistics alter column library_id set statistics 0;
comment on table pgrag.lexeme_statistics is 'Lexemes of a library, with what MaxScore needs.';
comment on column pgrag.lexeme_statistics.library_id is
    'Library that is counted; a foreign key would cost each new lexeme. No statistics: see'
    ' pages.library_id.';
comment on column pgrag.lexeme_statistics.language is 'Text search configuration of the lexeme.';
comment on column pgrag.lexeme_statistics.lexeme is 'Stemmed word, as in documents.search.';
comment on column pgrag.lexeme_statistics.document_count is
    'Searchable passages with the lexeme: its document frequency; 0 after their removal.';
comment on column pgrag.lexeme_statistics.largest_impact is
    'Upper bound of its impacts, for MaxScore; lowered only when impacts are rewritten.';

-- As in sql/text/_posting_keys.sql, which replaces it: an index needs it before the functions come.
create or replace function _pgrag.posting_keys(
    version_id bigint,
    weights sparsevec
)
returns bigint[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(l.id)
        operator(pg_catalog.||) pg_catalog.array_agg(l.of_version)
        operator(pg_catalog.||) pg_catalog.array_agg(
            l.id operator(pg_catalog.|) (1::bigint operator(pg_catalog.<<) 30)
        ) filter (where l.is_strong)
        operator(pg_catalog.||) pg_catalog.array_agg(
            l.of_version operator(pg_catalog.|) (1::bigint operator(pg_catalog.<<) 30)
        ) filter (where l.is_strong)
    from (
        select
            i.id, i.is_strong,
            posting_keys.version_id operator(pg_catalog.<<) 31 operator(pg_catalog.|) i.id
                as of_version
        from (
            select
                pg_catalog.split_part(e.element, ':', 1)::bigint as id,
                pg_catalog.split_part(e.element, ':', 2)::real operator(pg_catalog.>=) 1.8::real
                    as is_strong
            from pg_catalog.string_to_table(
                pg_catalog.btrim(
                    pg_catalog.split_part(posting_keys.weights::pg_catalog.text, '/', 1), '{}'
                ),
                ','
            ) as e (element)
            -- "offset 0": each is read once.
            offset 0
        ) as i
        offset 0
    ) as l;
$$;

create table pgrag.impacts (
    library_id bigint not null,
    document_id bigint not null,
    version_id bigint not null,
    page_id bigint not null,
    section_id bigint,
    sort_order integer not null,
    section_end integer not null,
    level smallint not null,
    covers smallint not null,
    text_hash uuid not null,
    content_hash bigint,
    weights sparsevec,
    title_weights sparsevec,
    primary key (library_id, document_id),
    foreign key (library_id, document_id)
        references pgrag.documents (library_id, document_id) on delete cascade
);
alter table pgrag.impacts
    alter column library_id set statistics 0,
    alter column weights set statistics 0,
    alter column weights set storage main,
    alter column title_weights set statistics 0,
    alter column title_weights set storage main;
create index impacts_page on pgrag.impacts (library_id, page_id);
create index impacts_keys on pgrag.impacts
    using gin (_pgrag.posting_keys(version_id, weights))
    with (fastupdate = on, gin_pending_list_limit = 4096);
alter index pgrag.impacts_keys alter column 1 set statistics 0;
comment on table pgrag.impacts is
    'What ranking reads of a searchable passage; narrow, so that a search reads few blocks.';
comment on column pgrag.impacts.library_id is 'Its library. No statistics: see pages.library_id.';
comment on column pgrag.impacts.document_id is 'The passage.';
comment on column pgrag.impacts.version_id is 'Its version; part of each key in impacts_keys.';
comment on column pgrag.impacts.page_id is 'Its page, whose evidence is added to the score.';
comment on column pgrag.impacts.section_id is 'Passage of its section, or itself; null: no parent.';
comment on column pgrag.impacts.sort_order is 'Position on the page; the earlier wins a tie.';
comment on column pgrag.impacts.section_end is
    'documents.section_end, repeated here; a summary gives way to passages up to there.';
comment on column pgrag.impacts.level is 'Like documents.level; summaries give way to paragraphs.';
comment on column pgrag.impacts.covers is 'documents.covers, repeated here; never 0.';
comment on column pgrag.impacts.text_hash is 'Breaks ties that version and position leave open.';
comment on column pgrag.impacts.content_hash is
    'content_hash of documents.content; a list has a text of a version once.';
comment on column pgrag.impacts.weights is
    'BM25F impacts by lexeme_id; the score is their inner product with the query''s weights.';
comment on column pgrag.impacts.title_weights is
    'Last part of its path as a unit vector of lexemes; null if it has only stop words.';

create table pgrag.model_tokens (
    model_id bigint not null references pgrag.embedding_models (model_id) on delete cascade,
    token text collate "C" not null,
    prefix_lengths smallint[] not null,
    embedding halfvec not null,
    related text[],
    cosines real[],
    primary key (model_id, token)
);
alter table pgrag.model_tokens alter column embedding set storage plain;
comment on table pgrag.model_tokens is 'Word pieces of the built-in model, for pgrag.embed.';
comment on column pgrag.model_tokens.model_id is 'The built-in model.';
comment on column pgrag.model_tokens.token is 'Word piece; ## marks one that continues a word.';
comment on column pgrag.model_tokens.prefix_lengths is
    'Lengths of its prefixes that are tokens, longest first: one look-up finds a piece.';
comment on column pgrag.model_tokens.embedding is
    'Vector of the piece; that of a text is the mean of its pieces, scaled to length 1.';
comment on column pgrag.model_tokens.related is
    'Of a word the nearest words of the model, best first, for matches of tokens; null: none.';
comment on column pgrag.model_tokens.cosines is 'Of the vectors of the related words, below 1.';

create table pgrag.embeddings (
    library_id bigint not null,
    document_id bigint not null,
    model_id bigint not null references pgrag.embedding_models (model_id),
    version_id bigint not null,
    page_id bigint not null,
    covers smallint not null,
    embedding halfvec not null,
    page_hash uuid,
    own_index boolean not null default false,
    primary key (library_id, document_id, model_id),
    foreign key (library_id, document_id)
        references pgrag.documents (library_id, document_id) on delete cascade
);
alter table pgrag.embeddings
    alter column library_id set statistics 0,
    alter column embedding set storage plain,
    alter column embedding set statistics 0;
create index embeddings_scope
    on pgrag.embeddings (library_id, model_id, version_id, page_id);

-- The built-in model is the first, so its id is 1; its tokens are loaded afterwards. Other models,
-- and libraries of many vectors, get an index like this one later.
insert into pgrag.embedding_models (name, provider, dimensions)
values ('static-en-de-ru-256', 'builtin', 256);
create index embeddings_hnsw_1 on pgrag.embeddings
    using hnsw ((embedding::halfvec(256)) halfvec_ip_ops)
    with (m = 10, ef_construction = 100)
    where model_id = 1 and not own_index;
comment on table pgrag.embeddings is
    'The vector of a passage by a model. Narrow, so that an exact scan reads few blocks.';
comment on column pgrag.embeddings.library_id is 'Library. No statistics: see pages.library_id.';
comment on column pgrag.embeddings.document_id is 'The passage.';
comment on column pgrag.embeddings.model_id is 'The model; a passage may have a vector of each.';
comment on column pgrag.embeddings.version_id is 'Version of the passage, repeated to save joins.';
comment on column pgrag.embeddings.page_id is 'Page of the passage, repeated to save joins.';
comment on column pgrag.embeddings.covers is 'documents.covers, repeated here to save joins.';
comment on column pgrag.embeddings.embedding is
    'Unit vector, so that the inner product is the cosine. Stored plain: no detoasting in scans.';
comment on column pgrag.embeddings.page_hash is
    'Late chunking: hash of all texts of the page when it was pooled; null: of this text alone.';
comment on column pgrag.embeddings.own_index is
    'libraries.own_vector_index, repeated here as the condition of the shared HNSW index.';

create table pgrag.query_vectors (
    model_id bigint not null references pgrag.embedding_models (model_id) on delete cascade,
    query_hash uuid not null,
    embedding halfvec not null,
    used_at timestamptz not null default now(),
    caller text not null default current_user,
    primary key (model_id, query_hash, caller)
);
create index query_vectors_used on pgrag.query_vectors (model_id, used_at, query_hash);
comment on table pgrag.query_vectors is
    'Cache of query vectors by models outside the database, so that psql can use them.';
comment on column pgrag.query_vectors.model_id is 'The model that made the vector.';
comment on column pgrag.query_vectors.query_hash is
    'Hash of words, query prefix, dimensions and checksum: no old vector of a changed model fits.';
comment on column pgrag.query_vectors.embedding is 'Unit vector of the query.';
comment on column pgrag.query_vectors.used_at is 'Last use; a model keeps the latest 10,000.';
comment on column pgrag.query_vectors.caller is 'Key or role that asked; read by it and admins.';

create type pgrag.query_term as (
    library_id bigint,
    language text,
    lexeme text,
    frequency double precision,
    document_count integer,
    idf double precision,
    weight double precision,
    bound double precision
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
    explanation jsonb,
    hybrid_score double precision,
    search_id uuid,
    version_reason text,
    since text,
    changed_in text,
    chunk_key text,
    has_children boolean,
    previous_section bigint,
    next_section bigint,
    sibling_sections bigint[],
    confidence double precision
);

create type pgrag.page_hit as (
    page_id bigint,
    library text,
    version text,
    key text,
    url text,
    title text,
    path text[],
    link text,
    content text,
    score double precision,
    keyword_score double precision,
    semantic_score double precision,
    hybrid_score double precision,
    aggregate text,
    passage_count integer,
    document_id bigint,
    heading text,
    anchor text,
    snippet text,
    cursor text,
    version_reason text,
    confidence double precision
);

create type pgrag.batch_hit as (
    query_number integer,
    query text,
    error_code text,
    error text,
    error_hint text,
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
    explanation jsonb,
    hybrid_score double precision,
    search_id uuid,
    version_reason text,
    since text,
    changed_in text,
    chunk_key text,
    has_children boolean,
    previous_section bigint,
    next_section bigint,
    sibling_sections bigint[],
    confidence double precision
);

-- In its order: what a person looks at first; the text, which is long, last.
create type pgrag.page as (
    page_id bigint,
    library text,
    version text,
    key text,
    url text,
    title text,
    path text[],
    type text,
    topic text,
    tags text[],
    aliases text[],
    language text,
    created timestamptz,
    created_from text,
    modified timestamptz,
    modified_from text,
    front_matter jsonb,
    uuid text,
    link text,
    warnings text[],
    words_shown integer,
    words_kept integer,
    document_count integer,
    source_hash text,
    indexed_at timestamptz,
    head text,
    body text
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
    block text,
    version_reason text,
    hybrid_score double precision,
    keyword_score double precision,
    semantic_score double precision,
    keyword_rank integer,
    semantic_rank integer,
    confidence double precision
);
"""

DOWNGRADE = """
drop table pgrag.query_vectors, pgrag.embeddings, pgrag.model_tokens, pgrag.impacts,
    pgrag.lexeme_statistics, pgrag.corpus_statistics;
drop type pgrag.query_term, pgrag.hit, pgrag.page_hit, pgrag.batch_hit, pgrag.page,
    pgrag.passage, pgrag.context_block;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
