-- Recomputes derived data from the bottom up: passages, vectors, statistics, which count the
-- repaired passages, and links.
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
declare
    owner pgrag.libraries := _pgrag.lock_library(repair_library.library);
    version_ids bigint[] := _pgrag.version_ids(owner.library_id, repair_library.version);
    before jsonb;
    after jsonb := '[]';
begin
    select coalesce(jsonb_agg(f), '[]')
    into before
    from pgrag.check_library(repair_library.library, repair_library.version) as f;
    if before <> '[]' then
        perform _pgrag.repair_documents(owner, version_ids);
        update pgrag.embeddings as e
        set (version_id, page_id, covers, own_index)
            = (d.version_id, d.page_id, d.covers, l.own_vector_index)
        from pgrag.documents as d
        join pgrag.libraries as l on l.library_id = d.library_id
        where e.library_id = owner.library_id
            and d.library_id = e.library_id
            and d.document_id = e.document_id
            and d.version_id = any (version_ids)
            and (d.version_id, d.page_id, d.covers, l.own_vector_index)
                is distinct from (e.version_id, e.page_id, e.covers, e.own_index);

        delete from pgrag.embeddings as e
        where e.library_id = owner.library_id
            and e.version_id = any (version_ids)
            and not (
                exists (
                    select from pgrag.documents as d
                    where d.library_id = e.library_id
                        and d.document_id = e.document_id
                        and d.covers > 0
                )
                and (e.model_id, vector_dims(e.embedding)) in (
                    select m.model_id, m.dimensions from pgrag.embedding_models as m
                )
            );

        perform _pgrag.hand_on_embeddings(
            owner.library_id,
            array(
                select f.document_id
                from _pgrag.vector_faults(owner.library_id, version_ids) as f
                where starts_with(f.problem, 'a text')
            )
        );
        if before @@ '$[*].check == "documents" || $[*].check == "pages"
            || $[*].check == "statistics"' then
            perform _pgrag.rebuild_statistics(owner.library_id, owner.settings);
        end if;
        perform pgrag.embed_pending(repair_library.library);
        perform _pgrag.count_version(owner.library_id, v.version_id)
        from unnest(version_ids) as v (version_id);
        -- Fragments may name repaired passages.
        if before @@ '$[*].check == "links" || $[*].check == "documents"' then
            perform _pgrag.repair_links(owner.library_id, version_ids);
        end if;
        select coalesce(jsonb_agg(f), '[]')
        into after
        from pgrag.check_library(repair_library.library, repair_library.version) as f;
    end if;
    return query
    select
        f."check", f.problem, f.count, f.examples,
        not exists (
            select from jsonb_to_recordset(after) as left_over (problem text)
            where left_over.problem = f.problem
        ),
        f.remedy
    from jsonb_to_recordset(before) as f (
        "check" text, problem text, count bigint, examples text[], remedy text
    );
end;
$$;

comment on function pgrag.repair_library is
'Repairs the faults that pgrag.check_library finds, in one transaction, while other writers of the
library wait; returns the faults, and whether each is repaired. Faults that cannot be repaired from
other rows remain, with a command as remedy: links of an interrupted version are resolved, but the
version stays unfinished. Statistics are recomputed if passages, pages or statistics had faults.
Errors: PGR02, PGR03.';

create or replace function _pgrag.repair_documents(
    owner pgrag.libraries,
    version_ids bigint[]
)
returns void
language plpgsql
volatile
as $$
declare
    faulty bigint[];
    lost bigint[];
begin
    select
        array_agg(f.document_id),
        array_agg(f.document_id) filter (
            where f.problem in ('a parent that is gone', 'a parent on another page',
                'parents in a circle')
        )
    into faulty, lost
    from _pgrag.document_faults(owner.library_id, repair_documents.version_ids) as f;

    delete from pgrag.documents as d
    where d.library_id = owner.library_id
        and d.document_id = any (faulty)
        and not exists (
            select from pgrag.pages as p
            where p.library_id = d.library_id and p.page_id = d.page_id
        );

    update pgrag.documents as d
    set version_id = n.version_id, sort_order = n.nth
    from (
        select
            d.document_id, p.version_id,
            row_number() over (partition by d.page_id order by d.sort_order, d.document_id) - 1
                as nth
        from pgrag.documents as d
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        where d.library_id = owner.library_id and p.version_id = any (repair_documents.version_ids)
    ) as n
    where d.library_id = owner.library_id
        and d.document_id = n.document_id
        and (d.version_id, d.sort_order) <> (n.version_id, n.nth);

    update pgrag.documents as d
    -- The section that contains the passage, by the order of the page.
    set parent_id = (
        select above.document_id
        from pgrag.documents as above
        where above.library_id = d.library_id
            and above.page_id = d.page_id
            and above.sort_order < d.sort_order
            and above.level < 2
            and (d.level = 2 or above.depth < d.depth)
        order by above.sort_order desc
        limit 1
    )
    where d.library_id = owner.library_id and d.document_id = any (lost);

    -- A vector of another text is deleted with it, or searches would match the wrong text.
    perform _pgrag.restate_documents(
        owner, array_agg(d.document_id),
        array_agg(case when d.level = 2 and d.covers > 0 then d.situation else '' end),
        array_agg(case when d.is_summary and d.extract is not null then d.content end)
    )
    from pgrag.documents as d
    where d.library_id = owner.library_id and d.document_id = any (faulty);
end;
$$;

create or replace function _pgrag.repair_links(
    library_id bigint,
    version_ids bigint[]
)
returns void
language plpgsql
volatile
as $$
declare
    mended bigint;
begin
    delete from pgrag.edges as e
    where e.library_id = repair_links.library_id
        and e.version_id = any (repair_links.version_ids)
        and not exists (
            select from pgrag.pages as p
            where p.library_id = e.library_id and p.page_id = e.source_page_id
        );
    update pgrag.edges as e
    set version_id = p.version_id
    from pgrag.pages as p
    where e.library_id = repair_links.library_id
        and p.library_id = e.library_id
        and p.page_id = e.source_page_id
        and p.version_id = any (repair_links.version_ids)
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
    where e.library_id = repair_links.library_id
        and e.version_id = any (repair_links.version_ids)
        and e.source_document_id is not null
        and not exists (
            select from pgrag.documents as d
            where d.library_id = e.library_id
                and d.document_id = e.source_document_id
                and d.page_id = e.source_page_id
        );
    foreach mended in array repair_links.version_ids loop
        -- write_page_names does not correct these columns: delete such names, to be written again.
        delete from pgrag.page_names as n
        using pgrag.pages as p
        where n.library_id = repair_links.library_id
            and p.library_id = n.library_id
            and p.page_id = n.page_id
            and p.version_id = mended
            and (n.version_id <> p.version_id or n.name <> _pgrag.last_name(n.full_name));
        perform _pgrag.write_page_names(
            repair_links.library_id, mended, _pgrag.base_url(repair_links.library_id, mended),
            array(
                select p.page_id
                from pgrag.pages as p
                where p.library_id = repair_links.library_id and p.version_id = mended
            )
        );
        perform _pgrag.resolve_links(repair_links.library_id, mended, whole => true);
        perform _pgrag.rank_version(repair_links.library_id, mended);
    end loop;
end;
$$;
