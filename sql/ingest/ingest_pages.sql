-- Upserts pages, all or none: unchanged pages are skipped, changed pages keep their ids, and the
-- ranking statistics are updated with the rows. The steps are the helpers of this folder.
create or replace function pgrag.ingest_pages(
    library text,
    pages jsonb,
    version text default '',
    language text default null,
    resolve boolean default true
)
returns table (
    page_id bigint,
    key text,
    status text,
    documents integer,
    warnings text[]
)
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
declare
    target record;
    keys text[];
    before bigint[];
    after bigint[];
    written bigint[];
    staged pgrag.documents[];
begin
    if jsonb_typeof(ingest_pages.pages) is distinct from 'array' then
        raise exception 'pages must be a JSON array of pages, got %.',
            coalesce(jsonb_typeof(ingest_pages.pages), 'null')
            using errcode = 'PGR01', hint = 'See the comment of pgrag.ingest_page.';
    end if;
    perform _pgrag.check_pages(ingest_pages.pages);
    select o.*
    into target
    from pgrag.open_version(ingest_pages.library, ingest_pages.version, ingest_pages.language) as o;

    keys := array(
        select i.page ->> 'key'
        from jsonb_array_elements(ingest_pages.pages) with ordinality as i (page, nth)
        order by i.nth
    );
    before := _pgrag.counted(target.library_id, target.version_id, keys);
    written := _pgrag.write_pages(
        target.library_id, target.version_id,
        _pgrag.library_language(target.library_id, ingest_pages.pages), ingest_pages.pages
    );
    staged := array(
        select s
        from _pgrag.stage_documents(
            target.library_id, target.version_id, target.base_url, ingest_pages.pages, written
        ) as s
    );
    if exists (select from pgrag.enrichments as e where e.library_id = target.library_id) then
        staged := array(
            select coalesce(n, s)
            from unnest(staged) as s
            left join _pgrag.with_enrichments(target.library_id, staged) as n
                on n.document_id = s.document_id
        );
    end if;
    perform _pgrag.replace_documents(
        target.library_id, written, staged,
        array(
            select d.document_id
            from pgrag.documents as d
            where d.library_id = target.library_id and d.page_id = any (written)
            except
            select s.document_id
            from unnest(staged) as s
        ),
        target.settings
    );
    perform _pgrag.write_sections(target.library_id, written);
    after := _pgrag.counted(target.library_id, target.version_id, keys);
    -- A count of the whole version for each batch would take time by the square of its size.
    update pgrag.versions as v
    set page_count = v.page_count + after[1] - before[1],
        document_count = v.document_count + after[2] - before[2],
        updated_at = now()
    where v.library_id = target.library_id and v.version_id = target.version_id;
    perform _pgrag.write_page_names(target.library_id, target.version_id, target.base_url, written);
    perform _pgrag.receive_edges(
        target.library_id, target.version_id, target.base_url, ingest_pages.pages, written
    );
    if ingest_pages.resolve then
        perform _pgrag.resolve_links(target.library_id, target.version_id);
    end if;

    return query
    select
        p.page_id, p.key,
        case when p.page_id = any (written) then 'written' else 'unchanged' end,
        p.document_count, p.warnings
    from unnest(keys) with ordinality as incoming (key, nth)
    -- "offset 0": one lookup by key per page, never a scan of the version.
    cross join lateral (
        select p.page_id, p.key, p.document_count, p.warnings
        from pgrag.pages as p
        where p.library_id = target.library_id
            and p.version_id = target.version_id
            and p.key = incoming.key
        offset 0
    ) as p
    order by incoming.nth;
end;
$$;

comment on function pgrag.ingest_pages is
'Writes an array of pages (in the form of pgrag.ingest_page) into one version of a library, in one
statement: all or none. Returns for each page its id, its key, whether it was written or unchanged
(same source_hash), its number of passages, and its warnings. A page without a language has that of
its text where it is clear, and so has each passage, else that of the library. Texts that already
have a vector in the library reuse it; pgrag.pending_embeddings lists the texts that still need one.
With resolve => false the links of new pages wait for the pages to come: for many batches it is
faster to call pgrag.resolve_links or pgrag.finish_version once, after the last batch. Errors:
PGR01.';
