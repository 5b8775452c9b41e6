"""The graph: edges between pages, the names by which pages are linked, page types, and sources.

Revision ID: 0010
Revises: 0009
"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

TABLES = """
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
    inject text[] not null default '{}'
);

create table pgrag.edge_kinds (
    name text primary key check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
    description text not null default '',
    weight double precision not null default 1 check (weight between 0 and 10)
);

create table pgrag.edges (
    library_id bigint not null,
    edge_id bigint generated always as identity,
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
    target text not null,
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

create table pgrag.pending_names (
    library_id bigint not null,
    version_id bigint not null,
    name text not null,
    primary key (library_id, version_id, name),
    foreign key (library_id, version_id)
        references pgrag.versions (library_id, version_id) on delete cascade
);

create table pgrag.pending_pages (
    library_id bigint not null,
    page_id bigint not null,
    version_id bigint not null,
    primary key (library_id, page_id),
    foreign key (library_id, page_id)
        references pgrag.pages (library_id, page_id) on delete cascade
);

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
"""


def upgrade() -> None:
    op.execute(TABLES)
    op.execute(
        """
        alter table pgrag.pages
            add column head text not null default '',
            add column aliases text[] not null default '{}',
            add column anchor_texts text[] not null default '{}',
            add column reading jsonb;
        -- Which pages have a path, and which the one above it. Titles of pages without a path are
        -- paths of one part, below nothing.
        create index pages_path on pgrag.pages using hash (path);
        create index pages_path_above on pgrag.pages
            using hash ((path[\\:cardinality(path) - 1])) where cardinality(path) > 1;
        alter table pgrag.documents add column context text not null default '';
        alter type pgrag.search_request add attribute graph jsonb;
        alter type pgrag.ranked_hit add attribute graph jsonb;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        alter type pgrag.ranked_hit drop attribute graph;
        alter type pgrag.search_request drop attribute graph;
        alter table pgrag.documents drop column context;
        drop index pgrag.pages_path, pgrag.pages_path_above;
        alter table pgrag.pages drop column reading, drop column anchor_texts,
            drop column aliases, drop column head;
        drop type pgrag.link;
        drop table pgrag.edge_embeddings, pgrag.page_ranks, pgrag.pending_pages,
            pgrag.pending_names, pgrag.page_names, pgrag.edges, pgrag.edge_kinds, pgrag.page_types;
        -- What goes here comes again only with pages that are read again.
        update pgrag.pages set source_hash = '';
        """
    )
