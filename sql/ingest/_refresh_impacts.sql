-- Rewrites the impacts of the languages whose rounded average length has changed; returns whether
-- there is one. Writers call it last, in their transaction: other sessions read the old impacts
-- until it ends, and wait for nothing.
create or replace function _pgrag.refresh_impacts(
    library_id bigint,
    settings jsonb
)
returns boolean
language plpgsql
volatile
as $$
declare
    -- The languages in which passages, and in which whole pages, have impacts of another average.
    passages text[];
    pages text[];
    batch record;
begin
    select
        array_agg(c.language) filter (
            where abs(r.average_length - c.average_length) > 1e-9 * c.average_length
        ),
        array_agg(c.language) filter (
            where abs(r.average_page_length - c.average_page_length) > 1e-9 * c.average_page_length
        )
    into passages, pages
    from pgrag.corpus_statistics as c
    cross join lateral (
        select
            _pgrag.rounded_average(c.total_length, c.document_count) as average_length,
            _pgrag.rounded_average(c.total_page_length, c.page_count) as average_page_length
    ) as r
    where c.library_id = refresh_impacts.library_id;
    if passages is null and pages is null then
        return false;
    end if;

    update pgrag.corpus_statistics as c
    set average_length = _pgrag.rounded_average(c.total_length, c.document_count),
        average_page_length = _pgrag.rounded_average(c.total_page_length, c.page_count)
    where c.library_id = refresh_impacts.library_id;
    update pgrag.lexeme_statistics as s
    set largest_impact = 0
    where s.library_id = refresh_impacts.library_id and s.language = any (passages);
    -- A page may have passages in other languages than its own.
    for batch in
        select array_agg(p.page_id) as page_ids
        from (
            select d.page_id, row_number() over (order by d.page_id) as nth
            from pgrag.documents as d
            where d.library_id = refresh_impacts.library_id and d.language = any (passages)
            group by d.page_id
        ) as p
        group by p.nth / 500
    loop
        perform _pgrag.rewrite_impacts(library_id, batch.page_ids, settings);
    end loop;
    for batch in
        select array_agg(p.page_id) as page_ids
        from (
            select
                p.page_id, p.language,
                row_number() over (partition by p.language order by p.page_id) as nth
            from pgrag.pages as p
            where p.library_id = refresh_impacts.library_id and p.language = any (pages)
        ) as p
        group by p.language, p.nth / 500
    loop
        perform _pgrag.forget_pages(library_id, batch.page_ids);
        perform _pgrag.rank_pages(library_id, batch.page_ids, settings);
    end loop;
    return true;
end;
$$;

-- The impacts of the passages of these pages with the average length now in use, and the largest
-- ones. The formulas are those of _write_documents, which makes the impacts of new rows.
create or replace function _pgrag.rewrite_impacts(
    library_id bigint,
    page_ids bigint[],
    settings jsonb
)
returns void
language sql
volatile
set enable_nestloop = off
set jit = off
as $$
    with terms as (
        select
            d.document_id, d.language, t.lexeme, t.frequency,
            sum(t.frequency) over (partition by d.document_id) as length
        from (select _pgrag.field_weights(rewrite_impacts.settings) as weights offset 0) as b
        cross join pgrag.documents as d
        cross join lateral (
            select f.lexeme, f.header_frequency + f.content_frequency as frequency
            from _pgrag.term_frequencies(d.search, b.weights) as f
            offset 0
        ) as t
        where d.library_id = rewrite_impacts.library_id
            and d.page_id = any (rewrite_impacts.page_ids)
            and d.covers > 0
    ),
    impacts as materialized (
        select
            t.document_id, t.language, t.lexeme,
            _pgrag.lexeme_id(t.language, t.lexeme) as lexeme_id,
            _pgrag.impact(
                t.frequency, t.length, c.average_length,
                (rewrite_impacts.settings ->> 'k1')::double precision,
                (rewrite_impacts.settings ->> 'b')::double precision
            )::real as impact
        from terms as t
        join pgrag.corpus_statistics as c
            on c.library_id = rewrite_impacts.library_id and c.language = t.language
        where t.frequency > 0
    ),
    elements as materialized (
        select i.document_id, i.lexeme_id, sum(i.impact) as impact, count(*) as lexeme_count
        from impacts as i
        group by i.document_id, i.lexeme_id
    ),
    lexemes as (
        update pgrag.lexeme_statistics as s
        set largest_impact = greatest(s.largest_impact, m.impact)
        from (
            select i.language, i.lexeme, max(coalesce(e.impact, i.impact)) as impact
            from impacts as i
            left join elements as e
                on e.lexeme_count > 1
                and e.document_id = i.document_id
                and e.lexeme_id = i.lexeme_id
            group by i.language, i.lexeme
        ) as m
        where s.library_id = rewrite_impacts.library_id
            and s.language = m.language
            and s.lexeme = m.lexeme
            and s.largest_impact < m.impact
    )
    update pgrag.impacts as i
    set weights = v.weights
    from (
        select
            e.document_id,
            _pgrag.sparse_vector(string_agg(e.lexeme_id || ':' || e.impact, ',')) as weights
        from elements as e
        group by e.document_id
    ) as v
    where i.library_id = rewrite_impacts.library_id and i.document_id = v.document_id;
$$;
