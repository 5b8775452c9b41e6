"""Libraries, versions, pages, passages: what is searched.

A documentation set is a library; each of its versions has pages, and a page is split into documents
(passages). Versions, pages and documents each have a weighted full-text vector: title A, path B,
url C, content D, as _pgrag.weighted_vector says.

An id names its library. Library ids are below 2^20; a version is number n of its library,
library_id << 12 | n; pages, documents and edges are library_id << 33 | n, below 2^53, so that JSON
holds them exactly. A library can therefore move to another database with all of its ids, if no
library there has its number: databases between which libraries move take numbers from sequences
that never meet, such as alter sequence pgrag.libraries_library_id_seq increment 16 restart 3.

Revision ID: 0001_libraries
Revises:
"""

from alembic import op

revision = "0001_libraries"
down_revision = None
branch_labels = None
depends_on = None

UPGRADE = """
comment on schema pgrag is
    'Documentation search: its tables, and the functions that ingest, search and navigate.';
create schema _pgrag;
comment on schema _pgrag is 'Helpers of pgrag, which may change without notice.';

comment on table pgrag.alembic_version is 'Revision of the tables: one row, by pgrag db upgrade.';
comment on column pgrag.alembic_version.version_num is 'Name of the last migration.';

-- The full-text vectors of versions, pages and documents have these four fields. The functions come
-- with the last migration, and replace this one by sql/text/_weighted_vector.sql, which is equal.
create or replace function _pgrag.weighted_vector(
    title tsvector,
    path tsvector,
    url tsvector,
    content tsvector
)
returns tsvector
language sql
immutable
parallel safe
as $$
    select pg_catalog.setweight(weighted_vector.title, 'A')
        operator(pg_catalog.||) pg_catalog.setweight(weighted_vector.path, 'B')
        operator(pg_catalog.||) pg_catalog.setweight(weighted_vector.url, 'C')
        operator(pg_catalog.||) pg_catalog.setweight(weighted_vector.content, 'D');
$$;

create table pgrag.installed_functions (
    digest text primary key,
    installed_at timestamptz not null default now()
);
comment on table pgrag.installed_functions is 'Installed functions: one row, by pgrag db upgrade.';
comment on column pgrag.installed_functions.digest is
    'Digest of the files in sql/; an upgrade installs them again where it differs.';
comment on column pgrag.installed_functions.installed_at is 'When they were installed.';

create table pgrag.embedding_models (
    model_id bigint generated always as identity primary key,
    name text not null unique,
    provider text not null check (provider in ('builtin', 'openai', 'local', 'custom')),
    dimensions integer not null check (dimensions between 1 and 4000),
    query_prefix text not null default '',
    document_prefix text not null default '',
    alpha double precision check (alpha between 0 and 1),
    checksum text,
    settings jsonb not null default '{}',
    created_at timestamptz not null default now()
);
comment on table pgrag.embedding_models is 'The models that embed passages, edges and queries.';
comment on column pgrag.embedding_models.model_id is 'Id of the model in vectors and HNSW indexes.';
comment on column pgrag.embedding_models.name is
    'Name for callers, and at the endpoint; with late chunking it ends in +late.';
comment on column pgrag.embedding_models.provider is
    'builtin: in this database; openai: an endpoint; local: run by pgrag; custom: by others.';
comment on column pgrag.embedding_models.dimensions is
    'Length of the vectors; fixed, because vectors are never cut or padded.';
comment on column pgrag.embedding_models.query_prefix is
    'Text that the model expects before a query; part of the key of query_vectors.';
comment on column pgrag.embedding_models.document_prefix is 'Text put before passages to embed.';
comment on column pgrag.embedding_models.alpha is
    'Weight of the vector retriever where the library sets none, 0 to 1; null: the default.';
comment on column pgrag.embedding_models.checksum is
    'SHA-256 of the built-in model''s tokens, vectors and character classes; else null.';
comment on column pgrag.embedding_models.settings is
    'Built-in model: the character classes that split words, and its provenance. Others: {}.';
comment on column pgrag.embedding_models.created_at is 'When the model was registered.';

create table pgrag.libraries (
    library_id bigint generated always as identity (maxvalue 1048575) primary key,
    name text not null unique check (name ~ '^[a-z0-9][a-z0-9._/-]{0,99}$'),
    language text not null default 'english',
    language_code text,
    model_id bigint references pgrag.embedding_models (model_id),
    settings jsonb not null default '{}',
    created_at timestamptz not null default now(),
    own_vector_index boolean not null default false,
    last_id bigint not null default 0 check (last_id between 0 and 8589934591),
    check (library_id between 1 and 1048575)
);
comment on table pgrag.libraries is
    'One set of documentation. Its row is the lock of its writers, who share its statistics.';
comment on column pgrag.libraries.library_id is
    'Below 2^20, because other ids contain it; first column of the keys of its tables.';
comment on column pgrag.libraries.name is 'Name for callers, of a-z, 0-9 and the signs . _ / -.';
comment on column pgrag.libraries.language is 'Text search configuration of language_code.';
comment on column pgrag.libraries.language_code is
    'Language of pages that neither state nor clearly show one; null until the first clear pages.';
comment on column pgrag.libraries.model_id is
    'Model whose vectors searches compare; set when the library is made, changed by use_model.';
comment on column pgrag.libraries.settings is
    'Retrieval settings that differ from the defaults; set by configure_library and tune.';
comment on column pgrag.libraries.created_at is 'When the library was made, by its first version.';
comment on column pgrag.libraries.own_vector_index is
    'Whether its vectors have HNSW indexes of their own; decided by place_vectors.';
comment on column pgrag.libraries.last_id is
    'Last n in the ids of its pages, passages and edges (library_id << 33 | n); never reused.';

create table pgrag.versions (
    library_id bigint not null references pgrag.libraries (library_id),
    version_id bigint not null check (version_id >> 12 = library_id),
    label text not null check (label = lower(btrim(label))),
    class text not null check (class in ('semver', 'partial', 'tag', 'unversioned')),
    release_key text collate "C",
    prerelease boolean not null default false,
    status text not null default 'indexing' check (status in ('indexing', 'ready')),
    source jsonb not null default '{}' constraint versions_base_url_check check (
        source ->> 'base_url' !~ '[[:cntrl:]]'
        and source ->> 'base_url' !~ '^[[:space:]]*[A-Za-z][A-Za-z0-9+.-]*:(?!//)'
        and source ->> 'base_url' !~* '^[[:space:]]*(?!https?:)[a-z][a-z0-9+.-]*:'
    ),
    page_count integer not null default 0,
    document_count integer not null default 0,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    ranked_links numeric,
    title text not null default '',
    description text not null default '',
    search tsvector,
    described_at timestamptz,
    primary key (library_id, version_id),
    unique (library_id, label)
);
create index versions_search on pgrag.versions using gin (search);
comment on table pgrag.versions is 'One version of a library''s documentation.';
comment on column pgrag.versions.library_id is 'Library of the version.';
comment on column pgrag.versions.version_id is
    'library_id << 12 | n, n up to 4095; also in documents.search and in impacts_keys.';
comment on column pgrag.versions.label is 'Name in lower case, such as 2.1; empty: unversioned.';
comment on column pgrag.versions.class is
    'semver (1.2.3), partial (3, v3.1, 3.x), tag (next) or unversioned; the first two sort.';
comment on column pgrag.versions.release_key is
    'Text that sorts by semver precedence, in collation C; null for tag and unversioned.';
comment on column pgrag.versions.prerelease is 'Pre-release: newest only if there is no release.';
comment on column pgrag.versions.status is
    'indexing until finish_version first runs, then ready; "newest" prefers ready versions.';
comment on column pgrag.versions.source is 'Origin and options; a run without options reuses them.';
comment on column pgrag.versions.page_count is 'Number of pages, updated with each batch.';
comment on column pgrag.versions.document_count is 'Searchable passages, updated with each batch.';
comment on column pgrag.versions.created_at is 'When the version was first written.';
comment on column pgrag.versions.updated_at is 'When its pages last changed.';
comment on column pgrag.versions.ranked_links is
    'Digest of the pages and weighted links that page_ranks was computed from; null: unknown.';
comment on column pgrag.versions.title is 'Title of the front page; empty: none.';
comment on column pgrag.versions.description is 'Description or summary of the front page.';
comment on column pgrag.versions.search is
    'Weighted words (setweight): library and label A, title B, description C, the 200 strongest'
    ' keywords D; for find_libraries, written by finish_version.';
comment on column pgrag.versions.described_at is 'updated_at when search was written; null before.';

create table pgrag.pages (
    library_id bigint not null,
    page_id bigint not null check (page_id >> 33 = library_id),
    version_id bigint not null,
    key text not null,
    url text not null constraint pages_url_check check (
        url !~ '[[:cntrl:]]' and (
            url !~ '^[[:space:]]*[A-Za-z][A-Za-z0-9+.-]*:'
            or url ~* '^(https?://|mailto:)'
            or url ~* '^(?!javascript|vbscript|data)[a-z0-9+.-]+:[^:]+[.](md|mdx|markdown)$'
        )
    ),
    title text not null,
    path text[] not null default '{}',
    front_matter jsonb not null default '{}',
    uuid text,
    link text constraint pages_link_check check (
        link !~* '^[[:space:][:cntrl:]]*(javascript|vbscript|data):'
    ),
    topic text,
    type text,
    tags text[] not null default '{}',
    language text not null,
    language_code text not null,
    created timestamptz,
    created_from text,
    modified timestamptz,
    modified_from text,
    source_hash text not null,
    warnings text[] not null default '{}',
    document_count integer not null default 0,
    indexed_at timestamptz not null default now(),
    length real not null default 0,
    body text not null,
    weights sparsevec,
    title_weights sparsevec,
    head text not null default '',
    aliases text[] not null default '{}',
    anchor_texts text[] not null default '{}',
    reading jsonb,
    body_hash uuid not null,
    words_shown integer,
    words_kept integer,
    search tsvector,
    primary key (library_id, page_id),
    foreign key (library_id, version_id) references pgrag.versions (library_id, version_id)
) with (toast_tuple_target = 128);
-- Facets and lists read the short columns of every page, which out of line are a look-up each.
-- Text and vectors are never compared, so the planner needs no statistics of them.
alter table pgrag.pages
    alter column key set storage main,
    alter column url set storage main,
    alter column title set storage main,
    alter column path set storage main,
    alter column front_matter set storage main,
    alter column uuid set storage main,
    alter column link set storage main,
    alter column topic set storage main,
    alter column type set storage main,
    alter column tags set storage main,
    alter column source_hash set storage main,
    alter column aliases set storage main,
    alter column title_weights set storage main,
    alter column body set statistics 0,
    alter column weights set statistics 0,
    alter column weights set storage main,
    alter column title_weights set statistics 0,
    alter column search set statistics 0;

create unique index pages_key on pgrag.pages (version_id, key, library_id);
create index pages_uuid on pgrag.pages (library_id, uuid) where uuid is not null;
create index pages_body_hash on pgrag.pages (body_hash, version_id);
create index pages_tags on pgrag.pages
    using gin (tags) with (fastupdate = on, gin_pending_list_limit = 512);
create index pages_front_matter on pgrag.pages
    using gin (front_matter jsonb_path_ops) with (fastupdate = on, gin_pending_list_limit = 512);
create index pages_type on pgrag.pages (library_id, version_id, lower(type))
    where type is not null;
-- Index-only: the pages of a type, and how much there is to search on them.
create index pages_type_name on pgrag.pages (library_id, version_id, type)
    include (page_id, document_count) where document_count >= 0;
-- For doctor: the pages that lack more than a tenth of their words are few.
create index pages_lost on pgrag.pages (library_id, version_id, (words_shown - words_kept))
    where words_shown - words_kept >= 20 and 10 * (words_shown - words_kept) > words_shown;
-- Parents and children by path. A title without a path is a path of one part, below nothing.
create index pages_path on pgrag.pages using hash (path);
create index pages_path_above on pgrag.pages
    using hash ((path[: cardinality(path) - 1])) where cardinality(path) > 1;
-- Pages are few: a longer list of pending entries would be most of the index.
create index pages_search on pgrag.pages
    using gin (search) with (fastupdate = on, gin_pending_list_limit = 2048);
comment on table pgrag.pages is 'One source file in one version, or one page that was sent.';
comment on column pgrag.pages.library_id is
    'Library of the page. No statistics: a new library would be estimated at one row.';
comment on column pgrag.pages.page_id is
    'library_id << 33 | n; kept when the page is rewritten, and by its uuid when it is renamed.';
comment on column pgrag.pages.version_id is 'Version of the page.';
comment on column pgrag.pages.key is 'Path of its source (guide/install.md); unique per version.';
comment on column pgrag.pages.url is 'Published address; without a base URL it begins with /.';
comment on column pgrag.pages.title is 'From front matter, else the first h1, else the file name.';
comment on column pgrag.pages.path is
    'Position in the hierarchy, from front matter, else its only top heading, else its title.';
comment on column pgrag.pages.front_matter is 'All front matter fields, known to pgrag or not.';
comment on column pgrag.pages.uuid is
    'Identity across names and versions: uuid or note_id of the front matter; null: none.';
comment on column pgrag.pages.link is 'Address of the original before export, from front matter.';
comment on column pgrag.pages.topic is 'Topic from front matter.';
comment on column pgrag.pages.type is 'From front matter, else by page_types.folders; null: none.';
comment on column pgrag.pages.tags is 'Tags from front matter, then #tag in the text; each once.';
comment on column pgrag.pages.language is 'Text search configuration that stems its words.';
comment on column pgrag.pages.language_code is
    'Its language: de, pt-BR, zh-Hans; stated, else by its text, else the library''s; or und.';
comment on column pgrag.pages.created is 'When it was made; UTC if no time zone is stated.';
comment on column pgrag.pages.created_from is
    'What says created: front matter, name (of the file), git, file or server; null: no date.';
comment on column pgrag.pages.modified is 'Last change; UTC if no time zone is stated.';
comment on column pgrag.pages.modified_from is 'What says modified, as in created_from.';
comment on column pgrag.pages.source_hash is 'Hash of bytes and reading options; equal: skipped.';
comment on column pgrag.pages.warnings is 'What reading repaired or ignored, by file; first 100.';
comment on column pgrag.pages.document_count is 'Searchable passages of the page (covers > 0).';
comment on column pgrag.pages.indexed_at is 'When the page was last written.';
comment on column pgrag.pages.length is 'BM25F length: lexemes weighted by field; 0: no words yet.';
comment on column pgrag.pages.body is 'Markdown after front matter; head and body are the source.';
comment on column pgrag.pages.weights is 'BM25F impacts of the page by lexeme_id; null: no words.';
comment on column pgrag.pages.title_weights is
    'Title as a unit vector of lexemes, for title evidence; null if it has only stop words.';
comment on column pgrag.pages.head is 'Front matter as written, with its fences; empty: none.';
comment on column pgrag.pages.aliases is 'Other names in front matter by which links reach it.';
comment on column pgrag.pages.anchor_texts is
    'Texts of links from other pages, most frequent first, at most 50; see refresh_anchor_texts.';
comment on column pgrag.pages.reading is
    'Fields of page_types it was read with, for outdated_pages; null: sent without a source.';
comment on column pgrag.pages.body_hash is 'text_hash of body; pairs moved pages across versions.';
comment on column pgrag.pages.words_shown is
    'Words that a reader of the file sees, outside navigation; null: not counted.';
comment on column pgrag.pages.words_kept is 'Those of words_shown that are in body; null likewise.';
comment on column pgrag.pages.search is
    'Weighted words of the page (setweight): title A, path B, url C, content D without positions;'
    ' also @l and @v as in documents.search.';

create table pgrag.documents (
    library_id bigint not null,
    document_id bigint not null check (document_id >> 33 = library_id),
    version_id bigint not null,
    page_id bigint not null,
    parent_id bigint,
    level smallint not null check (level between 0 and 2),
    covers smallint not null check (covers between 0 and 7),
    sort_order integer not null,
    section_end integer not null,
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
    content_tags text[] not null default '{}',
    keywords text[] not null default '{}',
    context text not null default '',
    situation text not null default '',
    extract text,
    primary key (library_id, document_id),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
) with (toast_tuple_target = 128);
alter table pgrag.documents
    alter column anchor set storage main,
    alter column heading set storage main,
    alter column root_section set storage main,
    alter column path set storage main,
    alter column types set storage main,
    alter column content_tags set storage main,
    alter column keywords set storage main,
    alter column content set statistics 0,
    alter column overlap set statistics 0,
    alter column situation set statistics 0,
    alter column extract set statistics 0;

create index documents_page on pgrag.documents (library_id, page_id, sort_order);
create index documents_parent on pgrag.documents (library_id, parent_id);
create index documents_text_hash on pgrag.documents (library_id, text_hash) where covers > 0;
-- The blocks of the pending list stay in the index, so the list is short: at 32 MB it was half of
-- the index of 100,000 passages. Longer lists make writing no faster.
create index documents_search on pgrag.documents
    using gin (search) with (fastupdate = on, gin_pending_list_limit = 4096);
comment on table pgrag.documents is 'A passage: a paragraph, or the summary of a section or page.';
comment on column pgrag.documents.library_id is 'Its library. No statistics: see pages.library_id.';
comment on column pgrag.documents.document_id is
    'library_id << 33 | n; kept while the text stays the same, wherever it moves on its page.';
comment on column pgrag.documents.version_id is 'Version of its page, repeated to save a join.';
comment on column pgrag.documents.page_id is 'Page of the passage.';
comment on column pgrag.documents.parent_id is 'Passage of section or page above it; null: none.';
comment on column pgrag.documents.level is '0 summary of page, 1 summary of section, 2 paragraph.';
comment on column pgrag.documents.covers is
    'Levels that it covers in searches, as bits: 1 page, 2 section, 4 paragraph. 0: never a hit.';
comment on column pgrag.documents.sort_order is 'Position on the page in reading order, from 0.';
comment on column pgrag.documents.section_end is
    'Position of the last passage below it; its own if there is none.';
comment on column pgrag.documents.heading_level is 'Level of the heading, 1 to 6; 0: no heading.';
comment on column pgrag.documents.depth is 'Headings down to it on the page; 0 before the first.';
comment on column pgrag.documents.line_start is 'First line in the source, from 1; 0: unknown.';
comment on column pgrag.documents.line_end is 'Last source line, subsections included; 0: unknown.';
comment on column pgrag.documents.is_summary is 'Whether content is a summary, not page text.';
comment on column pgrag.documents.text_hash is
    'text_hash of the embedded text; equal texts of a library share a vector.';
comment on column pgrag.documents.language is
    'Text search configuration: of its page, or its own language.';
comment on column pgrag.documents.position is 'intro (first section), conclusion (last) or middle.';
comment on column pgrag.documents.anchor is 'Fragment in url#anchor; empty for the page itself.';
comment on column pgrag.documents.heading is 'Heading of its section as text; empty: none.';
comment on column pgrag.documents.root_section is
    'Topmost heading above it on the page, for hierarchy => depth and breadth; empty: none.';
comment on column pgrag.documents.types is
    'Kinds of its blocks, such as text, code, table, list; generated: a model wrote the content.';
comment on column pgrag.documents.path is 'Path of its page, then the headings to its section.';
comment on column pgrag.documents.overlap is 'End of the previous paragraph, only for contexts.';
comment on column pgrag.documents.content is 'Markdown that readers see: paragraph or summary.';
comment on column pgrag.documents.search is
    'Full-text vector: title A, path of headings B, url C, content D; also the lexemes '
    '@l<library_id> and @v<version_id>, which narrow the GIN index. Null if covers is 0.';
comment on column pgrag.documents.content_tags is
    'Kind of content and audience, set by rules: procedural, definition, warning, beginner …';
comment on column pgrag.documents.keywords is
    'Up to five words with the largest impact times idf, chosen when it was last written.';
comment on column pgrag.documents.context is
    'Front matter fields that the page type injects, one per line; searched, never shown.';
comment on column pgrag.documents.situation is
    'Sentence by a model that says what the passage is about on its page; searched, never shown.';
comment on column pgrag.documents.extract is
    'The page''s own sentences where a model''s summary is the content; null otherwise.';

-- A library that is new since the last analyze would be estimated at one row, and every index that
-- begins with library_id would look as good as the right one. Without statistics the planner takes
-- one library in two hundred, and goes by the other columns.
alter table pgrag.pages alter column library_id set statistics 0;
alter table pgrag.documents alter column library_id set statistics 0;
"""

DOWNGRADE = """
drop table pgrag.documents, pgrag.pages, pgrag.versions, pgrag.libraries,
    pgrag.embedding_models, pgrag.installed_functions;
-- With the functions that tables and their policies needed until now.
drop schema _pgrag cascade;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
