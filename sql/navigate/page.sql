create or replace function pgrag.page(
    page_id anycompatible
)
returns table (
    page jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    stored pgrag.pages := _pgrag.page(pgrag.page_id(page.page_id::text));
begin
    return query
    select to_jsonb(stored)
        - '{
            weights, title_weights, search, anchor_texts, reading, length, body_hash, library_id,
            version_id, language_code
        }'::text[]
        || jsonb_build_object(
            'library', l.name, 'version', v.label, 'language', stored.language_code
        )
    from pgrag.libraries as l
    join pgrag.versions as v on v.library_id = l.library_id
    where l.library_id = stored.library_id and v.version_id = stored.version_id;
end;
$$;

comment on function pgrag.page is
'One page as one jsonb object: its front matter as fields (front_matter) and as it was written
(head), and its body. Errors: PGR04.';
