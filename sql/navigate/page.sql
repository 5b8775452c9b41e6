create or replace function pgrag.page(
    page_id anycompatible,
    library text default null,
    version text default null
)
returns setof pgrag.page
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    -- Of a library even an id must be one of its pages.
    p constant pgrag.pages := _pgrag.page(
        case
            when library is null then pgrag.page_id(page.page_id::text, null, version)
            else (
                select f.page_id from pgrag.find_page(library, page.page_id::text, version) as f
            )
        end
    );
begin
    return query
    select
        p.page_id, l.name, v.label, p.key, p.url, p.title, p.path, p.type, p.topic, p.tags,
        p.aliases, p.language_code, p.created, p.created_from, p.modified, p.modified_from,
        p.front_matter, p.uuid, p.link, p.warnings, p.words_shown, p.words_kept,
        p.document_count, p.source_hash, p.indexed_at, p.head, p.body
    from pgrag.libraries as l
    join pgrag.versions as v on v.library_id = l.library_id
    where l.library_id = p.library_id and v.version_id = p.version_id;
end;
$$;

comment on function pgrag.page is
'One page by its id or a name (see page_id): its front matter as fields (front_matter) and as it was
written (head), and its text (body). Errors: PGR01, PGR02, PGR03, PGR04.';
