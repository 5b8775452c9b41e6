create or replace function pgrag.version_source(
    library text,
    version text default ''
)
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select v.source
    from pgrag.libraries as l
    join pgrag.versions as v
        on v.library_id = l.library_id
        and v.label = lower(btrim(coalesce(version_source.version, '')))
    where l.name = lower(btrim(version_source.library));
$$;

comment on function pgrag.version_source is
'How one version was indexed last: location and revision of its source, the arguments that list the
same files again, and the options base_url, language, chunk_profile, slugs (the generator whose
anchors the headings have) and converter (what reads PDF), which an indexing run without these
options uses again. Null for a library or version that does not exist, {} for one that was written
without a source.';
