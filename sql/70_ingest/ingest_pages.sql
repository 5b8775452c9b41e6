-- Pages in, all or none: what is unchanged stays, what changed keeps its ids, and the statistics
-- that rank the library move with the rows. The steps are the helpers of this folder.
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
    documents integer
)
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
#variable_conflict use_column
declare
    target record;
    written bigint[];
    staged pgrag.documents[];
    changed bigint[];
    outdated bigint[];
    restated bigint[];
    reworded bigint[];
begin
    if jsonb_typeof(ingest_pages.pages) is distinct from 'array' then
        raise exception 'pages must be a JSON array of pages, got %.',
            coalesce(jsonb_typeof(ingest_pages.pages), 'null')
            using errcode = 'PGR01', hint = 'See the comment of pgrag.ingest_page.';
    end if;
    perform pgrag._check_edges(ingest_pages.pages);
    select o.*
    into target
    from pgrag.open_version(ingest_pages.library, ingest_pages.version, ingest_pages.language) as o;

    written := pgrag._write_pages(
        target.library_id, target.version_id, target.configuration, ingest_pages.pages
    );
    staged := array(
        select s
        from pgrag._stage_documents(
            target.library_id, target.version_id, target.base_url, ingest_pages.pages, written
        ) as s
    );
    if exists (select from pgrag.enrichments as e where e.library_id = target.library_id) then
        staged := array(select s from pgrag._with_enrichments(target.library_id, staged) as s);
    end if;
    select
        array_agg(s.document_id) filter (
            where d.document_id is null or pgrag._differs(s, d) or s.search <> d.search
        ),
        array_agg(d.document_id) filter (where pgrag._differs(s, d) or s.search <> d.search),
        array_agg(s.document_id) filter (where d.document_id is null or pgrag._differs(s, d)),
        array_agg(d.document_id) filter (where s.covers <> d.covers and not pgrag._differs(s, d))
    into changed, outdated, reworded, restated
    from unnest(staged) as s
    full join (
        select *
        from pgrag.documents as stored
        where stored.library_id = target.library_id and stored.page_id = any (written)
    ) as d on d.document_id = s.document_id;

    perform pgrag._forget_documents(target.library_id, outdated, target.settings);
    perform pgrag._write_documents(target.library_id, staged, changed, target.settings);
    perform pgrag._hand_on_embeddings(target.library_id, reworded);
    delete from pgrag.enrichment_failures as f
    where f.library_id = target.library_id and f.document_id = any (reworded);
    update pgrag.embeddings as e
    set covers = d.covers
    from pgrag.documents as d
    where d.library_id = target.library_id
        and d.document_id = any (restated)
        and e.library_id = d.library_id
        and e.document_id = d.document_id;
    delete from pgrag.documents as d
    where d.library_id = target.library_id
        and d.page_id = any (written)
        and d.document_id <> all (array(select s.document_id from unnest(staged) as s));
    perform pgrag._rank_pages(target.library_id, written, target.settings);
    perform pgrag._count_version(target.library_id, target.version_id);
    perform pgrag._write_page_names(
        target.library_id, target.version_id, target.base_url, written
    );
    perform pgrag._write_edges(
        target.library_id, target.version_id, target.base_url, ingest_pages.pages, written
    );
    if ingest_pages.resolve then
        perform pgrag._resolve_links(target.library_id, target.version_id);
    end if;

    return query
    select
        p.page_id,
        p.key,
        case when p.page_id = any (written) then 'written' else 'unchanged' end,
        p.document_count
    from jsonb_array_elements(ingest_pages.pages) with ordinality as incoming (page, place)
    join pgrag.pages as p
        on p.library_id = target.library_id
        and p.version_id = target.version_id
        and p.key = incoming.page ->> 'key'
    order by incoming.place;
end;
$$;

comment on function pgrag.ingest_pages(text, jsonb, text, text, boolean) is
'Writes an array of pages (the form of pgrag.ingest_page) into one version of a library, in one
statement: all or none. Returns for each page its id, its key, whether it was written or unchanged
(same source_hash) and its number of documents. Vectors of texts that the library has already are
handed on; pgrag.pending_embeddings lists the texts that still need one. With resolve => false the
links of the pages are written and not connected: for many pages it is quicker to call
pgrag.resolve_links or pgrag.finish_version once, after the last. Errors: PGR01.';
