-- Compares the stored ranking statistics of a library with a recount from the full-text vectors.
create or replace function _pgrag.statistic_faults(
    library_id bigint,
    settings jsonb
)
returns table (
    problem text,
    example text
)
language sql
stable
set work_mem = '128MB'
set enable_nestloop = off
set jit = off
as $$
    with terms as materialized (
        select
            d.document_id, d.language, t.lexeme, t.frequency,
            sum(t.frequency) over (partition by d.document_id) as length
        from pgrag.documents as d
        cross join lateral (
            select f.lexeme, f.header_frequency + f.content_frequency as frequency
            from _pgrag.term_frequencies(
                d.search, _pgrag.field_weights(statistic_faults.settings)
            ) as f
            offset 0
        ) as t
        where d.library_id = statistic_faults.library_id and d.covers > 0
    ),
    corpora as (
        select l.language, count(*) as document_count, sum(l.length) as total_length
        from (select distinct t.document_id, t.language, t.length from terms as t) as l
        group by l.language
    ),
    pages as (
        select p.language, count(*) as page_count, sum(p.length) as total_length
        from pgrag.pages as p
        where p.library_id = statistic_faults.library_id and p.length > 0
        group by p.language
    ),
    kept_corpora as (
        select c.*
        from pgrag.corpus_statistics as c
        where c.library_id = statistic_faults.library_id
    ),
    impacts as materialized (
        select
            t.document_id, t.language, t.lexeme,
            _pgrag.impact(
                t.frequency, t.length, c.average_length,
                (statistic_faults.settings ->> 'k1')::double precision,
                (statistic_faults.settings ->> 'b')::double precision
            )::real as impact
        from terms as t
        join kept_corpora as c on c.language = t.language
        where t.frequency > 0
    ),
    counted as (
        select i.language, i.lexeme, count(*) as document_count, max(i.impact) as largest_impact
        from impacts as i
        group by i.language, i.lexeme
    ),
    kept_lexemes as (
        select s.*
        from pgrag.lexeme_statistics as s
        where s.library_id = statistic_faults.library_id
    ),
    vectors as (
        select
            e.document_id,
            _pgrag.sparse_vector(string_agg(e.lexeme_id || ':' || e.impact, ',')) as weights
        from (
            select
                i.document_id, _pgrag.lexeme_id(i.language, i.lexeme) as lexeme_id,
                sum(i.impact) as impact
            from impacts as i
            group by 1, 2
        ) as e
        group by e.document_id
    )
    select
        'a corpus with other numbers or lengths of its passages',
        format('%s: %s passages of length %s, not %s of %s', coalesce(c.language, k.language),
            coalesce(c.document_count, 0), round(coalesce(c.total_length, 0)),
            coalesce(k.document_count, 0), round(coalesce(k.total_length, 0)::numeric))
    from corpora as c
    full join kept_corpora as k on k.language = c.language
    where coalesce(c.document_count, 0) <> coalesce(k.document_count, 0)
        or abs(coalesce(c.total_length, 0) - coalesce(k.total_length, 0))
            > 1e-6 * greatest(c.total_length, 1)
        or (c.total_length > 0 and (k.average_length > 0) is not true)
    union all
    select
        'a corpus with wrong numbers or lengths of pages',
        format('%s: %s pages, not %s', k.language, coalesce(p.page_count, 0), k.page_count)
    from kept_corpora as k
    left join pages as p on p.language = k.language
    where coalesce(p.page_count, 0) <> k.page_count
        or abs(coalesce(p.total_length, 0) - k.total_page_length)
            > 1e-3 + 1e-4 * greatest(p.total_length, 1)
    union all
    select
        'a term with a wrong document frequency',
        format('%s (%s): %s, not %s', coalesce(c.lexeme, k.lexeme),
            coalesce(c.language, k.language), coalesce(c.document_count, 0),
            coalesce(k.document_count, 0))
    from counted as c
    full join kept_lexemes as k on k.language = c.language and k.lexeme = c.lexeme
    where coalesce(c.document_count, 0) <> coalesce(k.document_count, 0)
    union all
    select
        'a term whose largest impact is too small: searches may miss passages',
        format('%s (%s): %s, at most %s', c.lexeme, c.language, c.largest_impact, k.largest_impact)
    from counted as c
    join kept_lexemes as k on k.language = c.language and k.lexeme = c.lexeme
    where c.largest_impact > k.largest_impact * 1.000001
    union all
    select 'a passage with wrong weights of its terms', format('passage %s', i.document_id)
    from pgrag.impacts as i
    left join vectors as v on v.document_id = i.document_id
    where i.library_id = statistic_faults.library_id
        and case
            when i.weights is null or v.weights is null
            then i.weights is distinct from v.weights
            else i.weights <-> v.weights > 1e-4
        end
    union all
    select
        'a passage that searches find elsewhere or not at all',
        format('passage %s', coalesce(d.document_id, i.document_id))
    from (
        select d.*, _pgrag.title_vector(array[d.language], d.path[cardinality(d.path)]) as title
        from pgrag.documents as d
        where d.library_id = statistic_faults.library_id and d.covers > 0
    ) as d
    full join (
        select i.* from pgrag.impacts as i where i.library_id = statistic_faults.library_id
    ) as i on i.document_id = d.document_id
    where (
        i.version_id, i.page_id, i.section_id, i.sort_order, i.section_end, i.level, i.covers,
        i.text_hash, i.content_hash, i.title_weights
    ) is distinct from (
        d.version_id, d.page_id, case when d.level = 2 then d.parent_id else d.document_id end,
        d.sort_order, d.section_end, d.level, d.covers, d.text_hash,
        _pgrag.content_hash(d.content), d.title
    );
$$;
