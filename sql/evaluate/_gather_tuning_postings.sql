-- One row for each question term in a candidate or its page, with the inputs of its impact.
-- counts, lengths and averages are vectors of title, path, url and content (see
-- pgrag.term_frequencies for a passage, _pgrag.rank_pages for a page): their inner product with
-- the field weights is the weighted frequency, length or average length.
create or replace function _pgrag.gather_tuning_postings(
    owner_id bigint,
    expansion text
)
returns void
language plpgsql
volatile
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
begin
    insert into pg_temp.tuning_postings
    with words as materialized (
        select
            d.document_id, d.page_id, d.level, d.language, t.lexeme collate "C" as lexeme,
            cardinality(array_positions(t.weights, 'A')) as title,
            cardinality(array_positions(t.weights, 'B')) as path,
            cardinality(array_positions(t.weights, 'C')) as url,
            cardinality(array_positions(t.weights, 'D')) as content
        from pgrag.documents as d
        cross join lateral unnest(d.search) as t
        where d.library_id = owner_id
            and d.page_id in (select c.page_id from pg_temp.tuning_candidates as c)
            and d.covers > 0
            and t.positions is not null
    ),
    texts as materialized (
        select
            false as is_page, w.document_id as text_id, w.language, w.lexeme,
            array[w.title, w.path, w.url, w.content]::vector as counts
        from words as w
        union all
        select
            true, w.page_id, w.language, w.lexeme,
            array[max(w.title), max(w.path), max(w.url), sum(w.content)]::real[]::vector
        from words as w
        where w.level = 2
        group by w.page_id, w.language, w.lexeme
    ),
    lengths as materialized (
        select t.is_page, t.text_id, t.language, sum(t.counts) as counts
        from texts as t
        group by t.is_page, t.text_id, t.language
    ),
    -- The candidates are a sample of the library: their averages are scaled to the library's
    -- average, so that the settings in force give the scores of real searches.
    averages as materialized (
        select
            a.is_page, a.language,
            a.counts * array_fill(
                (
                    case when a.is_page then s.average_page_length else s.average_length end
                    / -(a.counts <#> _pgrag.field_weights(
                        pgrag.effective_settings(l.settings)
                    )::vector)
                )::real,
                '{4}'
            )::vector as counts
        from (
            select n.is_page, n.language, avg(n.counts) as counts
            from lengths as n
            group by n.is_page, n.language
        ) as a
        join pgrag.libraries as l on l.library_id = owner_id
        join pgrag.corpus_statistics as s
            on s.library_id = owner_id and s.language = a.language
    ),
    terms as materialized (
        select t.*
        from pg_temp.tuning_terms as t
        where t.expansion = gather_tuning_postings.expansion
    ),
    asked as materialized (
        select distinct
            c.question_number, c.is_muted, c.mask, x.is_page, x.text_id, t.language, t.lexeme,
            t.weight
        from pg_temp.tuning_candidates as c
        join terms as t on t.question_number = c.question_number and t.is_muted = c.is_muted
        cross join lateral (values (false, c.document_id), (true, c.page_id))
            as x (is_page, text_id)
    )
    select
        a.question_number, a.is_muted, gather_tuning_postings.expansion, a.is_page, a.text_id,
        a.weight, x.counts * a.mask as counts, n.counts * a.mask as lengths,
        v.counts * a.mask as averages
    from asked as a
    join texts as x
        on x.is_page = a.is_page
        and x.text_id = a.text_id
        and x.language = a.language
        and x.lexeme = a.lexeme
    join lengths as n
        on n.is_page = x.is_page and n.text_id = x.text_id and n.language = x.language
    join averages as v on v.is_page = x.is_page and v.language = x.language;
    analyze pg_temp.tuning_postings;
end;
$$;
