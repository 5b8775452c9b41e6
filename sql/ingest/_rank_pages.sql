-- BM25F of whole pages: title, path and url count once, content is summed over the paragraphs. No
-- tsvector of the whole page is needed, so no page is too long.
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
    with terms as materialized (
        select
            d.page_id,
            d.language,
            t.lexeme,
            max(t.header_frequency) + sum(t.content_frequency) as frequency
        from pgrag.documents as d
        cross join lateral _pgrag.term_frequencies(
            d.search,
            _pgrag.field_weights(rank_pages.settings)
        ) as t
        where d.library_id = rank_pages.library_id
            and d.page_id = any (rank_pages.page_ids)
            and d.level = 2
        group by d.page_id, d.language, t.lexeme
    ),
    lengths as materialized (
        select t.page_id, t.language, sum(t.frequency) as length
        from terms as t
        group by t.page_id, t.language
    ),
    totals as (
        select
            l.language,
            count(*) as page_count,
            sum(l.length::double precision) as total_length
        from lengths as l
        where l.length > 0
        group by l.language
    ),
    corpora as (
        update pgrag.corpus_statistics as c
        set page_count = c.page_count + t.page_count,
            total_page_length = c.total_page_length + t.total_length,
            average_page_length = case
                when c.average_page_length = 0
                then _pgrag.rounded_average(t.total_length, t.page_count)
                else c.average_page_length
            end
        from totals as t
        where c.library_id = rank_pages.library_id and c.language = t.language
        returning c.language, c.average_page_length
    ),
    elements as (
        select
            t.page_id,
            pgrag.lexeme_id(t.language, t.lexeme) as lexeme_id,
            sum(
                _pgrag.impact(
                    t.frequency,
                    l.length,
                    c.average_page_length,
                    (rank_pages.settings ->> 'k1')::double precision,
                    (rank_pages.settings ->> 'b')::double precision
                )
            )::real as impact
        from terms as t
        join lengths as l on l.page_id = t.page_id
        join corpora as c on c.language = t.language
        where t.frequency > 0
        group by t.page_id, pgrag.lexeme_id(t.language, t.lexeme)
    ),
    vectors as materialized (
        select
            e.page_id,
            _pgrag.sparse_vector(string_agg(e.lexeme_id || ':' || e.impact, ',')) as weights
        from elements as e
        group by e.page_id
    )
    update pgrag.pages as p
    set weights = v.weights,
        title_weights = _pgrag.title_vector(array[p.language], p.title),
        length = coalesce(l.length, 0),
        document_count = counted.searchable
    from (
        select ranked.page_id, count(d.document_id) as searchable
        from unnest(rank_pages.page_ids) as ranked (page_id)
        left join pgrag.documents as d
            on d.library_id = rank_pages.library_id
            and d.page_id = ranked.page_id
            -- Without nested loops, this alone keeps the join from reading every document.
            and d.page_id = any (rank_pages.page_ids)
            and d.covers > 0
        group by ranked.page_id
    ) as counted
    left join vectors as v on v.page_id = counted.page_id
    left join lengths as l on l.page_id = counted.page_id
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
        select
            p.language,
            count(*) as page_count,
            sum(p.length::double precision) as total_length
        from pgrag.pages as p
        where p.library_id = forget_pages.library_id
            and p.page_id = any (forget_pages.page_ids)
            and p.length > 0
        group by p.language
    ) as gone
    where c.library_id = forget_pages.library_id and c.language = gone.language;
$$;
