-- How often title, path, url and content of each candidate, and of its page, say each word of the
-- query, and how long these fields are. See pgrag.term_frequencies for what a passage is, and
-- pgrag._rank_pages for what a page is.
create or replace function pgrag._count_words(
    owner_id bigint,
    seed bigint
)
returns void
language plpgsql
volatile
set search_path from current
set client_min_messages = warning
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
begin
    drop table if exists pg_temp.tuning_texts, pg_temp.tuning_lengths, pg_temp.tuning_counts,
        pg_temp.tuning_corpora, pg_temp.tuning_postings;
    perform pgrag._average_lengths(owner_id, seed);

    create temporary table tuning_texts (
        document_id bigint primary key,
        page_id bigint not null,
        level smallint not null,
        language text not null,
        search tsvector
    ) on commit drop;
    -- The candidates, and all paragraphs of their pages.
    insert into pg_temp.tuning_texts
    select d.document_id, d.page_id, d.level, d.language, d.search
    from pgrag.documents as d
    where d.library_id = owner_id
        and d.covers > 0
        and (
            d.document_id in (select c.document_id from pg_temp.tuning_candidates as c)
            or (
                d.level = 2
                and d.page_id in (select c.page_id from pg_temp.tuning_candidates as c)
            )
        );
    analyze pg_temp.tuning_texts;

    create temporary table tuning_lengths (
        text_id bigint not null,
        is_page boolean not null,
        language text not null,
        title real not null,
        path real not null,
        url real not null,
        content real not null
    ) on commit drop;
    insert into pg_temp.tuning_lengths
    select d.document_id, false, d.language, l.title, l.path, l.url, l.content
    from pg_temp.tuning_texts as d
    cross join lateral pgrag._field_lengths(d.search) as l;
    insert into pg_temp.tuning_lengths
    select
        d.page_id, true, d.language, max(l.title), coalesce(max(h.path), 0), max(l.url),
        sum(l.content)
    from pg_temp.tuning_texts as d
    join pg_temp.tuning_lengths as l on l.text_id = d.document_id and not l.is_page
    left join (
        select h.page_id, sum(h.path) as path
        from (
            select d.page_id, t.lexeme, max(cardinality(t.positions)) as path
            from pg_temp.tuning_texts as d
            cross join lateral unnest(ts_filter(d.search, '{b}')) as t
            where d.level = 2
            group by d.page_id, t.lexeme
        ) as h
        group by h.page_id
    ) as h on h.page_id = d.page_id
    where d.level = 2
    group by d.page_id, d.language;

    create temporary table tuning_counts (
        text_id bigint not null,
        is_page boolean not null,
        language text not null,
        lexeme text collate "C" not null,
        title real not null,
        path real not null,
        url real not null,
        content real not null
    ) on commit drop;
    insert into pg_temp.tuning_counts
    select
        d.document_id, false, d.language, t.lexeme,
        cardinality(array_positions(t.weights, 'A')),
        cardinality(array_positions(t.weights, 'B')),
        cardinality(array_positions(t.weights, 'C')),
        cardinality(array_positions(t.weights, 'D'))
    from pg_temp.tuning_texts as d
    cross join lateral unnest(d.search) as t
    where t.positions is not null
        and t.lexeme in (select w.lexeme from pg_temp.tuning_terms as w);
    insert into pg_temp.tuning_counts
    select
        d.page_id, true, c.language, c.lexeme, max(c.title), max(c.path), max(c.url),
        sum(c.content)
    from pg_temp.tuning_counts as c
    join pg_temp.tuning_texts as d on d.document_id = c.text_id and d.level = 2
    group by d.page_id, c.language, c.lexeme;
    analyze pg_temp.tuning_counts;
    analyze pg_temp.tuning_lengths;
    perform pgrag._join_postings();
end;
$$;

-- One row for each word of a query that a passage or page has, with all that its impact depends on.
create or replace function pgrag._join_postings()
returns void
language plpgsql
volatile
set search_path from current
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
begin
    create temporary table tuning_postings (
        query_number integer not null,
        is_validation boolean not null,
        is_page boolean not null,
        text_id bigint not null,
        corpus_number integer not null,
        kind text not null,
        weight real not null,
        title real not null,
        path real not null,
        url real not null,
        content real not null,
        title_length real not null,
        path_length real not null,
        url_length real not null,
        content_length real not null
    ) on commit drop;
    insert into pg_temp.tuning_postings
    select
        q.query_number, q.is_validation, n.is_page, n.text_id, o.corpus_number, q.kind, t.weight,
        n.title, n.path, n.url, n.content, l.title, l.path, l.url, l.content
    from (
        select c.query_number, false as is_page, c.document_id as text_id
        from pg_temp.tuning_candidates as c
        union all
        select distinct c.query_number, true, c.page_id
        from pg_temp.tuning_candidates as c
    ) as c
    join pg_temp.tuning_queries as q on q.query_number = c.query_number
    join pg_temp.tuning_terms as t on t.query_number = c.query_number
    join pg_temp.tuning_counts as n
        on n.text_id = c.text_id
        and n.is_page = c.is_page
        and n.lexeme = t.lexeme
        and n.language = t.language
    join pg_temp.tuning_lengths as l on l.text_id = c.text_id and l.is_page = c.is_page
    join pg_temp.tuning_corpora as o on o.language = n.language and o.is_page = n.is_page;
    analyze pg_temp.tuning_postings;
end;
$$;

-- Average lengths of the fields in the whole library, from a sample of its documents.
create or replace function pgrag._average_lengths(
    owner_id bigint,
    seed bigint
)
returns void
language plpgsql
volatile
set search_path from current
set enable_nestloop = off
set jit = off
as $$
begin
    create temporary table tuning_corpora (
        corpus_number integer not null,
        language text not null,
        is_page boolean not null,
        title double precision not null,
        path double precision not null,
        url double precision not null,
        content double precision not null
    ) on commit drop;
    insert into pg_temp.tuning_corpora
    with sample as materialized (
        select d.document_id, d.language, d.level
        from pgrag.documents as d
        where d.library_id = owner_id and d.covers > 0
        order by hashint8extended(d.document_id, seed)
        limit 5000
    ),
    measured as materialized (
        select s.language, s.level, l.*
        from sample as s
        join pgrag.documents as d
            on d.library_id = owner_id and d.document_id = s.document_id
        cross join lateral pgrag._field_lengths(d.search) as l
    ),
    paragraphs as (
        select
            d.language,
            count(*) filter (where d.level = 2)::double precision
                / nullif(count(distinct d.page_id) filter (where d.level = 2), 0) as on_a_page
        from pgrag.documents as d
        where d.library_id = owner_id and d.covers > 0
        group by d.language
    )
    select
        row_number() over (order by a.language, a.is_page), a.language, a.is_page, a.title,
        a.path, a.url, a.content
    from (
        select
            m.language, false as is_page, avg(m.title) as title, avg(m.path) as path,
            avg(m.url) as url, avg(m.content) as content
        from measured as m
        group by m.language
        union all
        select
            m.language, true, avg(m.title), avg(m.path), avg(m.url),
            avg(m.content) * min(p.on_a_page)
        from measured as m
        join paragraphs as p on p.language = m.language
        where m.level = 2
        group by m.language
    ) as a;
end;
$$;

-- Set-returning, so that the planner takes it into the query that asks.
create or replace function pgrag._field_lengths(
    search tsvector
)
returns table (
    title double precision,
    path double precision,
    url double precision,
    content double precision
)
language sql
immutable
parallel safe
rows 1
as $$
    select
        h.title::double precision,
        h.path::double precision,
        h.url::double precision,
        (h.total - h.title - h.path - h.url)::double precision
    from (
        select
            pgrag._position_count(_field_lengths.search) as total,
            pgrag._position_count(
                pg_catalog.ts_filter(_field_lengths.search, '{a}')
            ) as title,
            pgrag._position_count(
                pg_catalog.ts_filter(_field_lengths.search, '{b}')
            ) as path,
            pgrag._position_count(
                pg_catalog.ts_filter(_field_lengths.search, '{c}')
            ) as url
        offset 0
    ) as h;
$$;

create or replace function pgrag._position_count(
    search tsvector
)
returns bigint
language sql
immutable
parallel safe
as $$
    select coalesce(sum(pg_catalog.cardinality(t.positions)), 0)
    from pg_catalog.unnest(_position_count.search) as t;
$$;
