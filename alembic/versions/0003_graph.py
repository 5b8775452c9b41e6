"""The graph: edges between pages, the names by which pages are linked, texts of sections.

A link keeps the words in which it was written beside its target, so that a link to a page that
comes later heals by itself.

Revision ID: 0003_graph
Revises: 0002_ranking
"""

from alembic import op

revision = "0003_graph"
down_revision = "0002_ranking"
branch_labels = None
depends_on = None

UPGRADE = """
create table pgrag.page_types (
    name text primary key check (name ~ '^[a-z0-9][a-z0-9_-]{0,49}$'),
    description text not null default '',
    folders text[] not null default '{}',
    chunk_profile text check (
        chunk_profile in ('by_heading', 'by_meaning', 'short', 'medium', 'long')
    ),
    edge_defaults text[] not null default '{}',
    retriever_weight double precision not null default 1
        check (retriever_weight between 0 and 10),
    link_keys text[] not null default '{}',
    inject text[] not null default '{}',
    asked_by text[] not null default '{}'
);
comment on table pgrag.page_types is 'Configuration of how pages of a type are read and ranked.';
comment on column pgrag.page_types.name is 'pages.type in lower case; default serves all others.';
comment on column pgrag.page_types.description is 'For people.';
comment on column pgrag.page_types.folders is 'Patterns as in .gitignore for pages without a type.';
comment on column pgrag.page_types.chunk_profile is
    'How its pages are cut into passages; --profile of a run overrides it. Null: medium.';
comment on column pgrag.page_types.edge_defaults is
    'Kinds of edges: each link of its pages gets one more edge of each, with confidence 0.7.';
comment on column pgrag.page_types.retriever_weight is
    'Factor of its passages'' scores, 0 to 10; searches by vectors alone ignore it.';
comment on column pgrag.page_types.link_keys is 'Further front matter fields that contain links.';
comment on column pgrag.page_types.inject is 'Front matter fields put into documents.context.';
comment on column pgrag.page_types.asked_by is 'Query words that suspend a weight below 1.';

create table pgrag.edge_kinds (
    name text primary key check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
    description text not null default '',
    weight double precision not null default 1 check (weight between 0 and 10)
);
comment on table pgrag.edge_kinds is 'Configuration of the weights of kinds of edges.';
comment on column pgrag.edge_kinds.name is 'Kind as in edges.kind; one without a row weighs 1.';
comment on column pgrag.edge_kinds.description is 'For people.';
comment on column pgrag.edge_kinds.weight is '0 to 10; times edges.confidence it weighs an edge.';

create table pgrag.edges (
    library_id bigint not null,
    edge_id bigint not null check (edge_id >> 33 = library_id),
    version_id bigint not null,
    source_page_id bigint not null,
    source_document_id bigint,
    target_page_id bigint,
    target_document_id bigint,
    confidence real not null check (confidence > 0 and confidence <= 1),
    place integer not null,
    line integer not null,
    state text not null check (
        state in ('resolved', 'unresolved', 'ambiguous', 'external', 'asset', 'tag')
    ),
    how text,
    rule text not null,
    kind text not null,
    target text not null constraint edges_target_check check (
        target !~* '^[[:space:][:cntrl:]]*(javascript|vbscript|data):[^[:space:]]'
    ),
    fragment text,
    fragment_found boolean,
    name text not null,
    link_text text not null default '',
    sentence text not null default '',
    candidates bigint[],
    primary key (library_id, edge_id),
    foreign key (library_id, source_page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
);
create index edges_source on pgrag.edges (library_id, source_page_id);
create index edges_target on pgrag.edges (library_id, target_page_id)
    where target_page_id is not null;
create index edges_name on pgrag.edges (library_id, version_id, name);
-- Index-only: what a search with links reads of an edge.
create index edges_links on pgrag.edges (library_id, source_page_id)
    include (target_page_id, kind, confidence, edge_id, place)
    where target_page_id is not null;
comment on table pgrag.edges is 'A link, relation or tag of a page, resolved within its version.';
comment on column pgrag.edges.library_id is 'Library of both pages.';
comment on column pgrag.edges.edge_id is 'library_id << 33 | n; kept while its page has the link.';
comment on column pgrag.edges.version_id is 'Version of both pages: an edge never leaves it.';
comment on column pgrag.edges.source_page_id is 'Page that has the link.';
comment on column pgrag.edges.source_document_id is 'Passage that has the link; null: unknown.';
comment on column pgrag.edges.target_page_id is 'Page that it leads to; null unless resolved.';
comment on column pgrag.edges.target_document_id is 'Passage its fragment leads to; null: none.';
comment on column pgrag.edges.confidence is
    'Confidence: 1 written as a link, 0.95 inline relation, 0.9 callout, 0.7 by page type.';
comment on column pgrag.edges.place is 'Position among edges of its page in source order, from 0.';
comment on column pgrag.edges.line is 'Line in the source, from 1; 0: unknown.';
comment on column pgrag.edges.state is
    'resolved, unresolved, ambiguous, external (another site), asset (no page) or tag.';
comment on column pgrag.edges.how is
    'What led to the target: self, path, name, url, title, alias or slug; null unless resolved.';
comment on column pgrag.edges.rule is
    'Syntax it came from: explicit:link, inline:rel, front_matter:up, edge_defaults:note, tag …';
comment on column pgrag.edges.kind is 'references, embeds, tagged or a relation; see edge_kinds.';
comment on column pgrag.edges.target is
    'Target as written, without fragment; empty: the page itself. Of a tag: the tag.';
comment on column pgrag.edges.fragment is 'After #: anchor, heading or block (^id); null: none.';
comment on column pgrag.edges.fragment_found is 'Whether it is there; null: no target or fragment.';
comment on column pgrag.edges.name is
    'Last part of the target, looked up in page_names; # is the page itself, .. depends on it.';
comment on column pgrag.edges.link_text is 'Text of the link as readers see it.';
comment on column pgrag.edges.sentence is 'Sentence around it, for backlinks and edge_embeddings.';
comment on column pgrag.edges.candidates is 'Up to 100 equally good pages; null unless ambiguous.';

create table pgrag.page_names (
    library_id bigint not null,
    version_id bigint not null,
    page_id bigint not null,
    name text not null,
    full_name text not null,
    how text not null check (how in ('path', 'url', 'title', 'alias', 'slug')),
    primary key (library_id, page_id, full_name, how),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
);
create index page_names_name on pgrag.page_names (library_id, version_id, name);
comment on table pgrag.page_names is 'Names by which links reach a page, for resolve_links.';
comment on column pgrag.page_names.library_id is 'Library of the page.';
comment on column pgrag.page_names.version_id is 'Version of the page: names count within it.';
comment on column pgrag.page_names.page_id is 'Page that has the name.';
comment on column pgrag.page_names.name is 'Last part of full_name; of an index page, its folder.';
comment on column pgrag.page_names.full_name is
    'Normalised name: decoded, lower case, without suffix; its last 300 characters.';
comment on column pgrag.page_names.how is 'path, url, title, alias or slug (permalink and id too).';

create table pgrag.pending_names (
    library_id bigint not null,
    version_id bigint not null,
    name text not null,
    primary key (library_id, version_id, name),
    foreign key (library_id, version_id)
        references pgrag.versions (library_id, version_id) on delete cascade
);
comment on table pgrag.pending_names is 'Names added or removed since resolve_links last ran.';
comment on column pgrag.pending_names.library_id is 'Library of the version.';
comment on column pgrag.pending_names.version_id is 'Version in which it is resolved anew.';
comment on column pgrag.pending_names.name is 'As page_names.name.';

create table pgrag.pending_pages (
    library_id bigint not null,
    page_id bigint not null,
    version_id bigint not null,
    edges jsonb,
    primary key (library_id, page_id),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
);
comment on table pgrag.pending_pages is 'Pages written since resolve_links last ran.';
comment on column pgrag.pending_pages.library_id is 'Library of the page.';
comment on column pgrag.pending_pages.page_id is
    'Page whose links, and links to whose fragments, are resolved anew.';
comment on column pgrag.pending_pages.version_id is 'Version of the page.';
comment on column pgrag.pending_pages.edges is
    'Edges as they were sent, of a page that had none; stored by resolve_links, which then knows'
    ' their targets. Null: they are stored.';

create table pgrag.page_ranks (
    library_id bigint not null,
    page_id bigint not null,
    version_id bigint not null,
    rank real not null,
    in_degree integer not null,
    out_degree integer not null,
    primary key (library_id, page_id),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
);
comment on table pgrag.page_ranks is 'PageRank and degrees, redone when links or weights change.';
comment on column pgrag.page_ranks.library_id is 'Library of the page.';
comment on column pgrag.page_ranks.page_id is 'The page.';
comment on column pgrag.page_ranks.version_id is 'Version within which it is ranked.';
comment on column pgrag.page_ranks.rank is 'PageRank, damping 0.85, weighted; a version sums to 1.';
comment on column pgrag.page_ranks.in_degree is 'Number of other pages that link to it.';
comment on column pgrag.page_ranks.out_degree is 'Number of other pages that it links to.';

create table pgrag.edge_embeddings (
    library_id bigint not null,
    edge_id bigint not null,
    model_id bigint not null references pgrag.embedding_models (model_id),
    version_id bigint not null,
    text_hash uuid not null,
    embedding halfvec not null,
    primary key (library_id, edge_id, model_id),
    foreign key (library_id, edge_id)
        references pgrag.edges (library_id, edge_id) on delete cascade
);
alter table pgrag.edge_embeddings alter column embedding set storage plain;
comment on table pgrag.edge_embeddings is 'Vectors of pgrag.edge_text by model, for search_edges.';
comment on column pgrag.edge_embeddings.library_id is 'Library of the edge.';
comment on column pgrag.edge_embeddings.edge_id is 'The edge.';
comment on column pgrag.edge_embeddings.model_id is 'The model; edges may have a vector of each.';
comment on column pgrag.edge_embeddings.version_id is 'Its version, repeated to save joins.';
comment on column pgrag.edge_embeddings.text_hash is
    'Hash of the text that was embedded; if a title has changed, the edge is pending again.';
comment on column pgrag.edge_embeddings.embedding is 'Unit vector: inner products are cosines.';

create table pgrag.section_texts (
    library_id bigint not null,
    page_id bigint not null,
    document_id bigint not null,
    version_id bigint not null,
    headings text[] not null,
    occurrence integer not null,
    line_start integer not null,
    line_end integer not null,
    text_hash uuid,
    primary key (library_id, page_id, document_id),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
);
alter table pgrag.section_texts alter column library_id set statistics 0;
create index section_texts_hash on pgrag.section_texts (library_id, version_id, text_hash);
comment on table pgrag.section_texts is
    'The own text of each section, by hash: what changed between versions, and since when.';
comment on column pgrag.section_texts.library_id is 'Library. No statistics: see pages.library_id.';
comment on column pgrag.section_texts.page_id is 'Page of the section.';
comment on column pgrag.section_texts.document_id is
    'Passage of the section; the passage of the page for text before the first heading.';
comment on column pgrag.section_texts.version_id is 'Version of the page.';
comment on column pgrag.section_texts.headings is
    'Headings down to the section, without the page''s path and title: its name in any version.';
comment on column pgrag.section_texts.occurrence is
    'Number among sections of the page with equal headings, from 1; those with text first.';
comment on column pgrag.section_texts.line_start is 'First line below its heading, from 1.';
comment on column pgrag.section_texts.line_end is 'Last line before the next heading.';
comment on column pgrag.section_texts.text_hash is
    'text_hash of these lines without outer blanks; null: no text of its own.';

create type pgrag.link as (
    edge_id bigint,
    source_page_id bigint,
    source_page text,
    line integer,
    target text,
    fragment text,
    fragment_found boolean,
    target_page_id bigint,
    target_page text,
    rule text,
    kind text,
    confidence real,
    state text,
    how text,
    link_text text,
    candidates text[]
);

create type pgrag.section_version as (
    version text,
    change text,
    text_changed boolean,
    document_id bigint,
    page_id bigint,
    key text,
    section text[],
    url text,
    anchor text,
    text text
);

create type pgrag.page_version as (
    version text,
    page_id bigint,
    key text,
    url text,
    title text,
    text_changed boolean
);

create type pgrag.adjacent_page as (
    relation text,
    page_id bigint,
    key text,
    url text,
    title text
);

create type pgrag.neighbour as (
    page_id bigint,
    depth integer,
    key text,
    title text,
    url text,
    weight double precision,
    via_page_id bigint,
    via_page text,
    edge_id bigint,
    edge_count bigint,
    forward boolean,
    kind text,
    line integer,
    sentence text,
    path bigint[]
);

create type pgrag.related_page as (
    page_id bigint,
    key text,
    title text,
    url text,
    score double precision,
    linked double precision,
    cocited double precision,
    coupled double precision,
    tagged double precision,
    meaning double precision,
    reason text
);
"""

DOWNGRADE = """
drop table pgrag.section_texts, pgrag.edge_embeddings, pgrag.page_ranks, pgrag.pending_pages,
    pgrag.pending_names, pgrag.page_names, pgrag.edges, pgrag.edge_kinds, pgrag.page_types;
drop type pgrag.link, pgrag.section_version, pgrag.page_version, pgrag.adjacent_page,
    pgrag.neighbour, pgrag.related_page;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
