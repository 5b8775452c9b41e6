-- Joins by both columns of the keys, which library_id begins.
create or replace view pgrag.passages with (security_invoker = true) as
select
    l.name as library,
    v.label as version,
    p.key,
    p.title,
    d.heading,
    d.content,
    d.level,
    d.path,
    d.types,
    d.content_tags,
    d.keywords,
    p.type,
    p.tags,
    p.url || coalesce('#' || nullif(d.anchor, ''), '') as url,
    d.line_start,
    d.line_end,
    d.sort_order,
    d.document_id,
    d.page_id
from pgrag.documents as d
join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
join pgrag.libraries as l on l.library_id = d.library_id
-- Others are the same text as a passage below or above them.
where d.covers > 0;

comment on view pgrag.passages is
'What searches can return: every passage of every version, with its page. Most are paragraphs (level
2); others summarise a section of several paragraphs, or a page of several sections.';
comment on column pgrag.passages.library is 'Name of the library.';
comment on column pgrag.passages.version is 'Label of the version; empty: unversioned.';
comment on column pgrag.passages.key is 'Path of the page in its source; key, #c, sort_order.';
comment on column pgrag.passages.title is 'Title of the page.';
comment on column pgrag.passages.heading is 'Heading of its section; empty: before the first one.';
comment on column pgrag.passages.content is 'Markdown that readers see: paragraph or summary.';
comment on column pgrag.passages.level is '0 page summary, 1 section summary, 2 paragraph.';
comment on column pgrag.passages.path is 'Path of its page, then the headings to its section.';
comment on column pgrag.passages.types is 'Kinds of its blocks: text, code, table, list …';
comment on column pgrag.passages.content_tags is 'Kind of content and audience, set by rules.';
comment on column pgrag.passages.keywords is 'Up to five words that tell it from others.';
comment on column pgrag.passages.type is 'Type of the page; null: none.';
comment on column pgrag.passages.tags is 'Tags of the page.';
comment on column pgrag.passages.url is 'Address of the page, with the anchor of the section.';
comment on column pgrag.passages.line_start is 'First line in the source of the page.';
comment on column pgrag.passages.line_end is 'Last line in the source of the page.';
comment on column pgrag.passages.sort_order is 'Place on the page.';
comment on column pgrag.passages.document_id is 'Id of the passage, as in hits.';
comment on column pgrag.passages.page_id is 'Id of the page, as in hits.';
