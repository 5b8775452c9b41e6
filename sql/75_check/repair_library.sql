-- Whatever follows from other rows is made anew, from the bottom up: documents, vectors, links, and
-- last the statistics, which count what the others have become.
create or replace function pgrag.repair_library(
    library text,
    version text default null
)
returns table (
    "check" text,
    problem text,
    count bigint,
    examples text[],
    repaired boolean,
    remedy text
)
language plpgsql
volatile
rows 5
set search_path from current
set work_mem = '128MB'
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(repair_library.library);
    wanted bigint[] := pgrag._checked_versions(owner_id, repair_library.version);
    before jsonb;
    after jsonb := '[]';
begin
    perform l.library_id
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    before := pgrag._findings(repair_library.library, repair_library.version);
    if before <> '[]' then
        perform pgrag._repair_documents(owner_id, wanted);
        perform pgrag._repair_vectors(owner_id, wanted);
        if before @@ '$[*].check == "documents" || $[*].check == "pages"
            || $[*].check == "statistics"' then
            perform pgrag._rebuild_statistics(
                owner_id,
                (
                    select pgrag.effective_settings(l.settings)
                    from pgrag.libraries as l
                    where l.library_id = owner_id
                )
            );
        end if;
        perform pgrag.embed_pending(repair_library.library);
        perform pgrag._count_version(owner_id, v.version_id)
        from unnest(wanted) as v (version_id);
        -- Documents that are others now are what fragments may name.
        if before @@ '$[*].check == "links" || $[*].check == "documents"' then
            perform pgrag._repair_links(owner_id, wanted);
        end if;
        after := pgrag._findings(repair_library.library, repair_library.version);
    end if;
    return query
    select
        f."check",
        f.problem,
        f.count,
        f.examples,
        not exists (
            select
            from jsonb_to_recordset(after) as left_over (problem text)
            where left_over.problem = f.problem
        ),
        f.remedy
    from jsonb_to_recordset(before) as f (
        "check" text, problem text, count bigint, examples text[], remedy text
    );
end;
$$;

comment on function pgrag.repair_library(text, text) is
'Mends what pgrag.check_library finds, all in one transaction, while no other writes to the library;
returns what was found, and whether it is gone now. What cannot follow from other rows is left, with
the command that helps in remedy: pages that were indexed before links were read are marked, so that
the next run reads them again; links of a version that was interrupted are connected, and it stays
unfinished. Statistics are rewritten where documents, pages or statistics were
found wrong. Errors: PGR02, PGR03.';

create or replace function pgrag._findings(
    library text,
    version text
)
returns jsonb
language sql
stable
set search_path from current
as $$
    select coalesce(jsonb_agg(to_jsonb(f)), '[]')
    from pgrag.check_library(_findings.library, _findings.version) as f;
$$;

create or replace function pgrag._repair_documents(
    library_id bigint,
    version_ids bigint[]
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    faulty bigint[];
begin
    delete from pgrag.documents as d
    using pgrag._document_faults(_repair_documents.library_id, _repair_documents.version_ids) as f
    where d.library_id = _repair_documents.library_id
        and d.document_id = f.document_id
        and f.problem = 'a document without its page';

    update pgrag.documents as d
    set version_id = p.version_id
    from pgrag.pages as p
    where d.library_id = _repair_documents.library_id
        and p.library_id = d.library_id
        and p.page_id = d.page_id
        and p.version_id = any (_repair_documents.version_ids)
        and p.version_id <> d.version_id;

    update pgrag.documents as d
    set sort_order = n.place
    from (
        select
            d.document_id,
            row_number() over (partition by d.page_id order by d.sort_order, d.document_id) - 1
                as place
        from pgrag.documents as d
        where d.library_id = _repair_documents.library_id
            and d.version_id = any (_repair_documents.version_ids)
    ) as n
    where d.library_id = _repair_documents.library_id
        and d.document_id = n.document_id
        and d.sort_order <> n.place;

    update pgrag.documents as d
    set parent_id = pgrag._parent_by_place(d)
    from pgrag._document_faults(_repair_documents.library_id, _repair_documents.version_ids) as f
    where d.library_id = _repair_documents.library_id
        and d.document_id = f.document_id
        and f.problem in ('a parent that is gone', 'a parent on another page',
            'parents in a circle');

    update pgrag.documents as d
    set situation = case when d.level = 2 and d.covers > 0 then d.situation else '' end,
        content = case when d.is_summary then d.content else coalesce(d.extract, d.content) end,
        extract = case when d.is_summary then d.extract end
    from pgrag._document_faults(_repair_documents.library_id, _repair_documents.version_ids) as f
    where d.library_id = _repair_documents.library_id
        and d.document_id = f.document_id
        and f.problem = 'a model''s text in the wrong place';

    -- A text that changed has no vector: another's would be found for it.
    select array_agg(f.document_id)
    into faulty
    from pgrag._document_faults(_repair_documents.library_id, _repair_documents.version_ids) as f
    where f.problem = 'the hash of another text';
    delete from pgrag.embeddings as e
    where e.library_id = _repair_documents.library_id and e.document_id = any (faulty);

    update pgrag.documents as d
    set search = n.search, text_hash = n.text_hash
    from (
        select
            d.document_id,
            case
                when d.covers > 0
                then pgrag.search_vector(
                    d.language, p.title, array_remove(d.path, p.title), t.url, t.content,
                    d.library_id, d.version_id
                )
            end as search,
            pgrag.text_hash(pgrag.embedding_text(p.title, t.url, d.path, t.content)) as text_hash
        from pgrag._document_faults(
            _repair_documents.library_id, _repair_documents.version_ids
        ) as f
        join pgrag.documents as d
            on d.library_id = _repair_documents.library_id and d.document_id = f.document_id
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
        cross join lateral (
            select
                pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')) as url,
                pgrag._searched_text(d.situation, d.context, d.content) as content
        ) as t
    ) as n
    where d.library_id = _repair_documents.library_id and d.document_id = n.document_id;
end;
$$;

create or replace function pgrag._repair_vectors(
    library_id bigint,
    version_ids bigint[]
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
begin
    delete from pgrag.embeddings as e
    using pgrag._vector_faults(_repair_vectors.library_id, _repair_vectors.version_ids) as f
    where e.library_id = _repair_vectors.library_id
        and e.document_id = f.document_id
        and e.model_id = f.model_id
        and f.problem = 'a vector without a searched document';

    update pgrag.embeddings as e
    set version_id = d.version_id, page_id = d.page_id, covers = d.covers
    from pgrag.documents as d
    where e.library_id = _repair_vectors.library_id
        and d.library_id = e.library_id
        and d.document_id = e.document_id
        and d.version_id = any (_repair_vectors.version_ids)
        and (d.version_id, d.page_id, d.covers)
            is distinct from (e.version_id, e.page_id, e.covers);

    -- The same text has the same vector, wherever it stands.
    insert into pgrag.embeddings (
        library_id, document_id, model_id, version_id, page_id, covers, embedding, page_hash
    )
    select distinct on (d.document_id)
        d.library_id, d.document_id, e.model_id, d.version_id, d.page_id, d.covers, e.embedding,
        e.page_hash
    from pgrag._vector_faults(_repair_vectors.library_id, _repair_vectors.version_ids) as f
    join pgrag.documents as d
        on d.library_id = _repair_vectors.library_id and d.document_id = f.document_id
    join pgrag.documents as twin
        on twin.library_id = d.library_id
        and twin.text_hash = d.text_hash
        and twin.document_id <> d.document_id
    join pgrag.embeddings as e
        on e.library_id = twin.library_id
        and e.document_id = twin.document_id
        and e.model_id = f.model_id
    where starts_with(f.problem, 'a text')
    order by d.document_id, e.document_id;
end;
$$;

create or replace function pgrag._repair_links(
    library_id bigint,
    version_ids bigint[]
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    mended record;
    unread bigint[];
begin
    delete from pgrag.edges as e
    where e.library_id = _repair_links.library_id
        and e.version_id = any (_repair_links.version_ids)
        and not exists (
            select
            from pgrag.pages as p
            where p.library_id = e.library_id and p.page_id = e.source_page_id
        );
    update pgrag.edges as e
    set version_id = p.version_id
    from pgrag.pages as p
    where e.library_id = _repair_links.library_id
        and p.library_id = e.library_id
        and p.page_id = e.source_page_id
        and p.version_id = any (_repair_links.version_ids)
        and p.version_id <> e.version_id;
    update pgrag.edges as e
    set source_document_id = (
        select d.document_id
        from pgrag.documents as d
        where d.library_id = e.library_id
            and d.page_id = e.source_page_id
            and e.line between d.line_start and d.line_end
        order by d.level desc, d.sort_order desc
        limit 1
    )
    where e.library_id = _repair_links.library_id
        and e.version_id = any (_repair_links.version_ids)
        and e.source_document_id is not null
        and not exists (
            select
            from pgrag.documents as d
            where d.library_id = e.library_id
                and d.document_id = e.source_document_id
                and d.page_id = e.source_page_id
        );
    -- Edges come only from the source: the next run reads these pages again. Until then they get no
    -- names, which would say that they were read.
    unread := array(
        select u.page_id
        from unnest(_repair_links.version_ids) as v (version_id)
        cross join unnest(
            pgrag._unread_pages(_repair_links.library_id, v.version_id)
        ) as u (page_id)
    );
    update pgrag.pages as p
    set source_hash = ''
    where p.library_id = _repair_links.library_id
        and p.page_id = any (unread)
        and p.source_hash <> '';
    -- A name under the wrong heading is not written over, but again.
    delete from pgrag.page_names as n
    using pgrag.pages as p
    where n.library_id = _repair_links.library_id
        and p.library_id = n.library_id
        and p.page_id = n.page_id
        and p.version_id = any (_repair_links.version_ids)
        and (n.version_id <> p.version_id or n.name <> pgrag._last_name(n.full_name));
    for mended in
        select l.name, v.label, v.version_id
        from pgrag.versions as v
        join pgrag.libraries as l on l.library_id = v.library_id
        where v.library_id = _repair_links.library_id
            and v.version_id = any (_repair_links.version_ids)
        order by v.version_id
    loop
        perform pgrag._write_page_names(
            _repair_links.library_id,
            mended.version_id,
            pgrag._base_url(_repair_links.library_id, mended.version_id),
            array(
                select p.page_id
                from pgrag.pages as p
                where p.library_id = _repair_links.library_id
                    and p.version_id = mended.version_id
                    and p.page_id <> all (unread)
            )
        );
        perform pgrag._resolve_links(
            _repair_links.library_id, mended.version_id, whole => true
        );
        delete from pgrag.page_ranks as r
        using pgrag.pages as p
        where r.library_id = _repair_links.library_id
            and p.library_id = r.library_id
            and p.page_id = r.page_id
            and p.version_id = mended.version_id
            and r.version_id <> p.version_id;
        perform pgrag.refresh_page_ranks(mended.name, mended.label);
    end loop;
end;
$$;
