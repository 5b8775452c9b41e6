create or replace function pgrag.refresh_statistics(
    library text
)
returns boolean
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
declare
    owner pgrag.libraries := _pgrag.lock_library(refresh_statistics.library);
begin
    return _pgrag.refresh_impacts(owner.library_id, owner.settings);
end;
$$;

comment on function pgrag.refresh_statistics is
'Rewrites the impacts of a library if the rounded average length of its passages or pages has
changed; returns whether it did. Searches do not wait. pgrag.ingest_page, finish_version,
remove_pages and remove_version do the same, so a library ranks by its pages, whatever the order in
which they were written. Errors: PGR02.';

create or replace function _pgrag.rebuild_statistics(
    library_id bigint,
    settings jsonb
)
returns void
language plpgsql
volatile
as $$
declare
    page_ids bigint[] := array(
        select p.page_id
        from pgrag.pages as p
        where p.library_id = rebuild_statistics.library_id
        order by p.page_id
    );
    batch bigint[];
begin
    delete from pgrag.lexeme_statistics as s where s.library_id = rebuild_statistics.library_id;
    update pgrag.corpus_statistics as c
    set (document_count, total_length, average_length, page_count, total_page_length)
        = (0, 0, coalesce(n.average_length, 0), 0, 0)
    from pgrag.corpus_statistics as o
    left join (
        select d.language, _pgrag.rounded_average(sum(d.length), count(*)) as average_length
        from (
            select
                d.language,
                sum((t.header_frequency + t.content_frequency)::double precision) as length
            from pgrag.documents as d
            cross join lateral _pgrag.term_frequencies(
                d.search, _pgrag.field_weights(rebuild_statistics.settings)
            ) as t
            where d.library_id = rebuild_statistics.library_id
            group by d.language, d.document_id
        ) as d
        group by d.language
    ) as n on n.language = o.language
    where o.library_id = rebuild_statistics.library_id
        and c.library_id = o.library_id
        and c.language = o.language;

    for nth in 1 .. cardinality(page_ids) by 500 loop
        batch := page_ids[nth : nth + 499];
        perform _pgrag.write_documents(
            rebuild_statistics.library_id, array_agg(d),
            range_agg(int8range(d.document_id, d.document_id, '[]')), rebuild_statistics.settings
        )
        from pgrag.documents as d
        where d.library_id = rebuild_statistics.library_id and d.page_id = any (batch);
        perform _pgrag.rank_pages(
            rebuild_statistics.library_id, batch, rebuild_statistics.settings
        );
    end loop;
    -- Only now is the average length of the pages known.
    perform _pgrag.refresh_impacts(rebuild_statistics.library_id, rebuild_statistics.settings);
end;
$$;
