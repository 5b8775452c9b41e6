create or replace function pgrag.gaps(
    days integer default 30,
    library text default null,
    top_k integer default 20,
    weak_score double precision default 0.33
)
returns table (
    topic text,
    library_name text,
    searches bigint,
    found_nothing bigint,
    found_little bigint,
    rephrased bigint,
    rated_badly bigint,
    examples text[],
    last_at timestamptz,
    pages jsonb
)
language plpgsql
stable
set search_path from current
as $$
#variable_conflict use_column
declare
    observed record := _pgrag.observed(days, library);
begin
    perform _pgrag.check_count('top_k', gaps.top_k);
    perform _pgrag.check_range('weak_score', gaps.weak_score, 0, 1);
    return query
    with recursive asked as (
        select
            s.*,
            regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g') as said,
            lead(regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g')) over next as next_said,
            lead(s.at) over next - s.at as pause
        from pgrag.searches as s
        where s.at >= observed.since
            and not s.continued
            and (observed.library is null or s.library = observed.library)
        window next as (partition by s.client, s.caller, s.library order by s.at, s.search_id)
    ),
    judged as (
        select
            a.said, a.library, a.at,
            _pgrag.found_nothing(a.search_id, a.hit_count) as found_nothing,
            a.hit_count > 0 and a.top_score < gaps.weak_score
                and coalesce(a.parameters ->> 'mode', 'hybrid') = 'hybrid'
                and 'rrf' not in (
                    coalesce(a.parameters ->> 'fusion', ''),
                    coalesce(a.parameters ->> 'aggregate', '')
                )
                and a.parameters ->> 'rerank' is distinct from 'true' as found_little,
            coalesce(
                a.pause < interval '2 minutes'
                and a.next_said <> a.said
                and _pgrag.share_half(
                    tsvector_to_array(_pgrag.query_vector('english', a.said)),
                    tsvector_to_array(_pgrag.query_vector('english', a.next_said))
                ),
                false
            ) as rephrased,
            (
                select coalesce(avg(f.rating) <= 2, false)
                from pgrag.feedback as f
                where f.search_id = a.search_id
            ) as rated_badly
        from asked as a
    ),
    missed as materialized (
        select
            m.*,
            row_number() over (order by m.searches desc, m.last_at desc, m.query, m.library)
                as nth,
            -- The model knows hardly a word of other scripts: their vectors would be alike.
            case when m.query !~ '[^\u0001-\u024F]' then pgrag.embed(m.query) end as vector,
            tsvector_to_array(_pgrag.query_vector('english', m.query)) as words
        from (
            select
                j.said as query, j.library,
                count(*) as searches,
                count(*) filter (where j.found_nothing) as found_nothing,
                count(*) filter (where j.found_little) as found_little,
                count(*) filter (where j.rephrased) as rephrased,
                count(*) filter (where j.rated_badly) as rated_badly,
                max(j.at) as last_at
            from judged as j
            where j.found_nothing or j.found_little or j.rephrased or j.rated_badly
            group by j.said, j.library
            order by count(*) desc, max(j.at) desc, j.said
            limit 1000
        ) as m
    ),
    -- For each query the more frequent ones that it resembles.
    alike as materialized (
        select
            m.nth,
            array_agg(o.nth order by o.nth) filter (where o.nth is not null) as others
        from missed as m
        left join missed as o
            on o.nth < m.nth
            and o.library is not distinct from m.library
            and (
                m.vector <#> o.vector <= -0.65
                or (m.words && o.words and _pgrag.share_half(m.words, o.words))
            )
        group by m.nth
    ),
    -- The most frequent query begins a topic; each further one joins the first topic whose
    -- beginning it resembles, or begins its own.
    assigned as (
        select 0::bigint as nth, '{}'::bigint[] as beginnings, null::bigint as beginning
        union all
        select
            a.nth, case when t.beginning is null then g.beginnings || a.nth else g.beginnings end,
            coalesce(t.beginning, a.nth)
        from assigned as g
        join alike as a on a.nth = g.nth + 1
        cross join lateral (
            select min(o.nth) as beginning
            from unnest(a.others) as o (nth)
            where o.nth = any (g.beginnings)
        ) as t
    ),
    topics as materialized (
        select
            min(m.query) filter (where m.nth = a.beginning) as topic,
            min(m.library) as library,
            sum(m.searches)::bigint as searches,
            sum(m.found_nothing)::bigint as found_nothing,
            sum(m.found_little)::bigint as found_little,
            sum(m.rephrased)::bigint as rephrased,
            sum(m.rated_badly)::bigint as rated_badly,
            (array_agg(m.query order by m.nth))[:5] as examples,
            max(m.last_at) as last_at
        from assigned as a
        join missed as m on m.nth = a.nth
        group by a.beginning
        order by sum(m.searches) desc, max(m.last_at) desc, min(m.nth)
        limit gaps.top_k
    )
    select t.*, _pgrag.nearest_pages(t.topic, t.library)
    from topics as t
    order by t.searches desc, t.last_at desc, t.topic;
end;
$$;

comment on function pgrag.gaps is
'What readers looked for in the last days and did not find: topics, those searched most often first.
A search failed its reader if it found nothing; if it found little, which is a hybrid search whose
best score is below weak_score (with the built-in model 77 to 95 % of questions about another
project score less than 0.33, and 3 to 20 % of those that the pages answer); if the same caller
asked for nearly the same in other words within two minutes; or if its mean rating was at most 2.
Queries are one topic if at least half of their words are the same, or the cosine of their vectors
by the built-in model is at least 0.65 (in Latin script). searches: searches that failed;
found_nothing, found_little, rephrased, rated_badly: how many for which reason, possibly several;
examples: up to five queries; library_name: null for searches in several; pages: the three nearest
pages of today, as a list of library, key, title, url and score. Reads at most the 1,000 queries
that failed most often. Errors: PGR01 for days, top_k or weak_score, PGR02.';

-- Whether at least half of the words of two queries are in both.
create or replace function _pgrag.share_half(
    words text[],
    other_words text[]
)
returns boolean
language sql
immutable
parallel safe
as $$
    select count(*) > 0 and 2 * count(*) filter (where w.occurrences = 2) >= count(*)
    from (
        select count(*) as occurrences
        from unnest(share_half.words || share_half.other_words) as u (word)
        group by u.word
    ) as w;
$$;

-- The pages nearest to a query today; none if the query is no longer valid.
create or replace function _pgrag.nearest_pages(
    query text,
    library text
)
returns jsonb
language plpgsql
stable
-- No notice that a query has no vector.
set client_min_messages = 'warning'
as $$
begin
    return (
        select coalesce(
            jsonb_agg(
                jsonb_build_object(
                    'library', p.library, 'key', p.key, 'title', p.title, 'url', p.url,
                    'score', p.score
                )
                order by p.score desc, p.key
            ),
            '[]'
        )
        from pgrag.search_pages(
            nearest_pages.query, nearest_pages.library, top_k => 3, snippets => false
        ) as p
    );
exception
    -- The library is gone, or a filter in the query is no longer valid.
    when sqlstate 'PGR01' or sqlstate 'PGR02' or sqlstate 'PGR03' or sqlstate 'PGR06' then
        return '[]';
end;
$$;
