-- Gives pages other dates without writing them anew: a copied or touched file is no new text.
-- dates: by key, {"created", "created_from", "modified", "modified_from"}.
create or replace function _pgrag.date_pages(
    library text,
    version text,
    dates jsonb
)
returns void
language sql
volatile
set timezone = 'UTC'
as $$
    update pgrag.pages as p
    set created = d.created, created_from = d.created_from,
        modified = d.modified, modified_from = d.modified_from
    from jsonb_each(dates) as e (key, page)
    cross join lateral jsonb_to_record(e.page) as d (
        created timestamptz, created_from text, modified timestamptz, modified_from text
    )
    join pgrag.libraries as l on l.name = lower(btrim(date_pages.library))
    join pgrag.versions as v
        on v.library_id = l.library_id and v.label = lower(btrim(date_pages.version))
    where p.library_id = l.library_id and p.version_id = v.version_id and p.key = e.key;
$$;
