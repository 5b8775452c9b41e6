"""What searches rank by has a narrow table of its own.

Revision ID: 0022
Revises: 0021
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

# Clustering rewrites the table, for the space of the dropped columns.
UPGRADE = """
drop view if exists _pgrag.matching_documents;
create function _pgrag.posting_keys(
    version_id bigint,
    weights sparsevec
)
returns bigint[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(v.id << 30 | pg_catalog.split_part(e.element, '\\:', 1)\\:\\:bigint)
    from pg_catalog.unnest(
        pg_catalog.string_to_array(
            pg_catalog.ltrim(
                pg_catalog.split_part(posting_keys.weights\\:\\:text, '/', 1), '{'
            ),
            ','
        )
    ) as e (element)
    cross join (values (0\\:\\:bigint), (posting_keys.version_id)) as v (id);
$$;

create table pgrag.impacts (
    library_id bigint not null,
    document_id bigint not null,
    version_id bigint not null,
    page_id bigint not null,
    section_id bigint,
    sort_order integer not null,
    level smallint not null,
    covers smallint not null,
    text_hash uuid not null,
    weights sparsevec,
    title_weights sparsevec
);
alter table pgrag.impacts
    alter column library_id set statistics 0,
    alter column weights set statistics 0,
    alter column weights set storage main,
    alter column title_weights set statistics 0,
    alter column title_weights set storage main;
insert into pgrag.impacts
select
    d.library_id, d.document_id, d.version_id, d.page_id,
    case when d.level = 2 then d.parent_id else d.document_id end,
    d.sort_order, d.level, d.covers, d.text_hash, d.weights, d.title_weights
from pgrag.documents as d
where d.covers > 0
order by d.page_id, d.sort_order;
alter table pgrag.impacts
    add primary key (library_id, document_id),
    add foreign key (library_id, document_id)
        references pgrag.documents (library_id, document_id) on delete cascade;
create index impacts_keys on pgrag.impacts
    using gin (_pgrag.posting_keys(version_id, weights))
    with (fastupdate = on, gin_pending_list_limit = 32768);
alter index pgrag.impacts_keys alter column 1 set statistics 0;

alter table pgrag.documents drop column weights, drop column title_weights;
cluster pgrag.documents using documents_page;
alter table pgrag.documents set without cluster;
analyze pgrag.documents, pgrag.impacts;
"""
DOWNGRADE = """
drop view if exists _pgrag.matching_documents;
drop view if exists _pgrag.matching_impacts;
drop function if exists _pgrag.narrowed_keys();
alter table pgrag.documents add column weights sparsevec, add column title_weights sparsevec;
alter table pgrag.documents
    alter column weights set statistics 0,
    alter column weights set storage main,
    alter column title_weights set statistics 0,
    alter column title_weights set storage main;
update pgrag.documents as d
set weights = i.weights, title_weights = i.title_weights
from pgrag.impacts as i
where i.library_id = d.library_id and i.document_id = d.document_id;
drop table pgrag.impacts;
drop function _pgrag.posting_keys(bigint, sparsevec);
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
