"""The texts of sections, by hash: what changed between versions, and since when a section exists.

Revision ID: 0013
Revises: 0012
"""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

TABLES = """
alter table pgrag.pages add column body_hash uuid;
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

-- Pages indexed before this revision, as sql/ingest/_write_sections.sql writes new ones.
update pgrag.pages
set body_hash = left(encode(sha256(convert_to(body, 'UTF8')), 'hex'), 32)::uuid;
alter table pgrag.pages alter column body_hash set not null;
insert into pgrag.section_texts (
    library_id, page_id, document_id, version_id, headings, occurrence, line_start, line_end,
    text_hash
)
with sections as (
    select
        d.library_id,
        d.page_id,
        d.document_id,
        d.version_id,
        d.level,
        d.path[cardinality(p.path) + 1\\:] as headings,
        case when d.level = 1 then d.line_start + 1
            else greatest(cardinality(string_to_array(p.head, E'\\n')), 1) end as line_start,
        coalesce(
            lead(d.line_start) over (partition by d.page_id order by d.sort_order) - 1, d.line_end
        ) as line_end,
        min(d.heading) filter (where d.level = 1 and d.heading_level = 1)
            over (partition by d.page_id) as title,
        count(*) filter (where d.level = 1 and d.heading_level = 1)
            over (partition by d.page_id) as title_count
    from pgrag.documents as d
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    where d.level < 2 and d.line_end > 0
),
sources as materialized (
    select p.library_id, p.page_id, string_to_array(p.head || p.body, E'\\n') as lines
    from pgrag.pages as p
),
-- Materialized: a row of the sort below would hold all lines of its page.
texts as materialized (
    select
        s.library_id, s.page_id, s.document_id, s.version_id, s.level, s.line_start, s.line_end,
        case when s.title_count = 1 and s.headings[1] = s.title then s.headings[2\\:]
            else s.headings end as own_headings,
        left(encode(sha256(convert_to(nullif(
            btrim(array_to_string(l.lines[s.line_start \\: s.line_end], E'\\n'), E' \\t\\r\\n'), ''
        ), 'UTF8')), 'hex'), 32)::uuid as text_hash
    from sections as s
    join sources as l on l.library_id = s.library_id and l.page_id = s.page_id
)
select
    t.library_id, t.page_id, t.document_id, t.version_id, t.own_headings,
    row_number() over (
        partition by t.page_id, t.own_headings
        order by t.text_hash is null, t.line_start, t.level
    ),
    t.line_start, t.line_end, t.text_hash
from texts as t;

create index pages_body_hash on pgrag.pages (library_id, version_id, body_hash);
create index section_texts_hash on pgrag.section_texts (library_id, version_id, text_hash);

create type pgrag.section_version as (
    version text,
    change text,
    text_changed boolean,
    document_id bigint,
    page_id bigint,
    key text,
    section text[],
    url text,
    anchor text
);
alter type pgrag.hit add attribute since text, add attribute changed_in text;
alter type pgrag.batch_hit add attribute since text, add attribute changed_in text;
alter type _pgrag.search_request add attribute history boolean;
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        """
        alter type _pgrag.search_request drop attribute history;
        alter type pgrag.batch_hit drop attribute since, drop attribute changed_in;
        alter type pgrag.hit drop attribute since, drop attribute changed_in;
        drop type pgrag.section_version;
        drop table pgrag.section_texts;
        alter table pgrag.pages drop column body_hash;
        """
    )
