-- Searches are counted in one reading, not once a library.
create or replace view pgrag.libraries_overview with (security_invoker = true) as
select
    l.name as library,
    coalesce(l.language_code, 'en') as language,
    m.name as model,
    (n.version).label as newest,
    v.versions,
    coalesce((n.version).page_count, 0) as pages,
    coalesce((n.version).document_count, 0) as passages,
    v.updated_at,
    coalesce(s.searches, 0) as searches,
    s.last_search
from pgrag.libraries as l
left join pgrag.embedding_models as m on m.model_id = l.model_id
left join lateral _pgrag.newest_version(l.library_id) as n on true
cross join lateral (
    select count(*) as versions, max(each.updated_at) as updated_at
    from pgrag.versions as each
    where each.library_id = l.library_id
) as v
left join (
    select each.library, count(*) as searches, max(each.at) as last_search
    from pgrag.searches as each
    where each.at >= now() - interval '30 days' and not each.continued
    group by each.library
) as s on s.library = l.name
order by l.name;

comment on view pgrag.libraries_overview is
'One row a library: its newest version, what is in it, and how often it was searched in 30 days.';
comment on column pgrag.libraries_overview.library is 'Name of the library.';
comment on column pgrag.libraries_overview.language is 'Language of pages that show none.';
comment on column pgrag.libraries_overview.model is 'Embedding model.';
comment on column pgrag.libraries_overview.newest is
    'Label of the version that a search without a version reads; empty: unversioned.';
comment on column pgrag.libraries_overview.versions is 'Number of versions.';
comment on column pgrag.libraries_overview.pages is 'Pages of the newest version.';
comment on column pgrag.libraries_overview.passages is
    'Searchable passages of the newest version.';
comment on column pgrag.libraries_overview.updated_at is 'When a page last changed.';
comment on column pgrag.libraries_overview.searches is
    'Recorded searches of this library alone in the last 30 days that the reader may see.';
comment on column pgrag.libraries_overview.last_search is 'The last of them; null: none.';
