-- BM25F of whole pages: title, path and url count once, content is summed over the paragraphs, so
-- no page is too long to rank.
create or replace function _pgrag.rank_pages(
    library_id bigint,
    page_ids bigint[],
    settings jsonb
)
returns void
language sql
volatile
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with frequencies as materialized (
        select r.page_id, p.language, p.title, p.path, p.url, p.version_id, t.*
        -- "offset 0": settings are read once, not for every lexeme; one lookup by key per page.
        from (select _pgrag.field_weights(rank_pages.settings) as weights offset 0) as b
        cross join unnest(rank_pages.page_ids) as r (page_id)
        cross join lateral (
            select p.language, p.title, p.path, p.url, p.version_id
            from pgrag.pages as p
            where p.library_id = rank_pages.library_id and p.page_id = r.page_id
            offset 0
        ) as p
        cross join lateral (
            select
                array_agg(f.lexeme) as lexemes, array_agg(f.frequency) as frequencies,
                sum(f.frequency) as length
            from (
                select t.lexeme, max(t.header_frequency) + sum(t.content_frequency) as frequency
                from (
                    select d.search
                    from pgrag.documents as d
                    where d.library_id = rank_pages.library_id
                        and d.page_id = r.page_id
                        and d.level = 2
                    offset 0
                ) as d
                cross join lateral _pgrag.term_frequencies(d.search, b.weights) as t
                group by t.lexeme
            ) as f
        ) as t
    ),
    totals as (
        select l.language, count(*) as page_count, sum(l.length::double precision) as total_length
        from frequencies as l
        where l.length > 0
        group by l.language
    ),
    corpora as (
        -- All passages of a page may be in another language than the page.
        insert into pgrag.corpus_statistics as c (
            library_id, language, document_count, total_length, average_length, page_count,
            total_page_length, average_page_length
        )
        select
            rank_pages.library_id, t.language, 0, 0, 0, t.page_count, t.total_length,
            _pgrag.rounded_average(t.total_length, t.page_count)
        from totals as t
        on conflict (library_id, language) do update
        set page_count = c.page_count + excluded.page_count,
            total_page_length = c.total_page_length + excluded.total_page_length,
            average_page_length = coalesce(
                nullif(c.average_page_length, 0), excluded.average_page_length
            )
        returning c.language, c.average_page_length
    ),
    vectors as materialized (
        select f.page_id, v.weights
        from frequencies as f
        join (
            select
                c.*,
                (rank_pages.settings ->> 'k1')::double precision as k1,
                (rank_pages.settings ->> 'b')::double precision as b
            from corpora as c
            offset 0
        ) as c on c.language = f.language
        cross join lateral (
            select _pgrag.sparse_vector(string_agg(e.lexeme_id || ':' || e.impact, ',')) as weights
            from (
                select
                    _pgrag.lexeme_id(f.language, t.lexeme) as lexeme_id,
                    sum(
                        _pgrag.impact(t.frequency, f.length, c.average_page_length, c.k1, c.b)
                    )::real as impact
                from unnest(f.lexemes, f.frequencies) as t (lexeme, frequency)
                where t.frequency > 0
                group by 1
            ) as e
        ) as v
    )
    update pgrag.pages as p
    set weights = v.weights,
        -- The same value is not written again.
        search = case when p.search = s.search then p.search else s.search end,
        title_weights = _pgrag.title_vector(array[p.language], p.title),
        length = coalesce(l.length, 0),
        document_count = counted.searchable
    from (
        select ranked.page_id, count(d.document_id) as searchable
        from unnest(rank_pages.page_ids) as ranked (page_id)
        left join pgrag.documents as d
            on d.library_id = rank_pages.library_id and d.page_id = ranked.page_id
            -- Without nested loops, this alone keeps the join from reading every passage.
            and d.page_id = any (rank_pages.page_ids)
            and d.covers > 0
        group by ranked.page_id
    ) as counted
    left join vectors as v on v.page_id = counted.page_id
    left join frequencies as l on l.page_id = counted.page_id
    left join lateral (
        select _pgrag.page_vector(
            l.language, l.title, l.path,
            _pgrag.relative_url(l.url, _pgrag.base_url(rank_pages.library_id, l.version_id)),
            l.lexemes, rank_pages.library_id, l.version_id
        ) as search
    ) as s on true
    where p.library_id = rank_pages.library_id
        and p.page_id = any (rank_pages.page_ids)
        and p.page_id = counted.page_id;
$$;

-- Subtracts pages from the statistics before they are changed or deleted.
create or replace function _pgrag.forget_pages(
    library_id bigint,
    page_ids bigint[]
)
returns void
language sql
volatile
as $$
    update pgrag.corpus_statistics as c
    set page_count = c.page_count - gone.page_count,
        total_page_length = c.total_page_length - gone.total_length
    from (
        select p.language, count(*) as page_count, sum(p.length::double precision) as total_length
        from pgrag.pages as p
        where p.library_id = forget_pages.library_id
            and p.page_id = any (forget_pages.page_ids)
            and p.length > 0
        group by p.language
    ) as gone
    where c.library_id = forget_pages.library_id and c.language = gone.language;
$$;
