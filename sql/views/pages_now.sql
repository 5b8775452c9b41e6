-- The version that a search without a version reads.
create or replace view pgrag.pages_now with (security_invoker = true) as
select
    l.name as library,
    (n.version).label as version,
    p.key,
    p.title,
    p.url,
    p.type,
    p.topic,
    p.tags,
    p.path,
    p.language_code as language,
    p.created,
    p.modified,
    p.document_count as passages,
    cardinality(p.warnings) as warnings,
    p.front_matter,
    p.body,
    p.indexed_at,
    p.page_id
from pgrag.libraries as l
cross join lateral _pgrag.newest_version(l.library_id) as n
join pgrag.pages as p
    on p.library_id = l.library_id and p.version_id = (n.version).version_id;

comment on view pgrag.pages_now is
'The pages of the newest version of each library: those that a search without a version reads.';
comment on column pgrag.pages_now.library is 'Name of the library.';
comment on column pgrag.pages_now.version is 'Label of its newest version; empty: unversioned.';
comment on column pgrag.pages_now.key is 'Path of its source, such as guide/install.md.';
comment on column pgrag.pages_now.title is 'Title.';
comment on column pgrag.pages_now.url is 'Published address.';
comment on column pgrag.pages_now.type is 'Type from front matter or folder; null: none.';
comment on column pgrag.pages_now.topic is 'Topic from front matter; null: none.';
comment on column pgrag.pages_now.tags is 'Tags from front matter and text.';
comment on column pgrag.pages_now.path is 'Position in the hierarchy.';
comment on column pgrag.pages_now.language is 'Code of its language.';
comment on column pgrag.pages_now.created is 'When it was made; null: not known.';
comment on column pgrag.pages_now.modified is 'When it was last changed; null: not known.';
comment on column pgrag.pages_now.passages is 'Number of searchable passages.';
comment on column pgrag.pages_now.warnings is 'Number of repairs made while reading it.';
comment on column pgrag.pages_now.front_matter is 'All fields of the front matter.';
comment on column pgrag.pages_now.body is 'Markdown, without the front matter.';
comment on column pgrag.pages_now.indexed_at is 'When it was last written.';
comment on column pgrag.pages_now.page_id is 'Id of the page, as in hits.';
