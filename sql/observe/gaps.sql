create or replace function pgrag.gaps(
    days integer default 30,
    library text default null,
    top_k integer default 20,
    weak_confidence double precision default 0.15
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
    perform _pgrag.check_range('weak_confidence', gaps.weak_confidence, 0, 1);
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
            a.said, a.library, a.at, a.caller,
            _pgrag.found_nothing(a.search_id, a.hit_count) as found_nothing,
            coalesce(a.confidence < gaps.weak_confidence, false) as found_little,
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
                max(j.at) as last_at,
                count(distinct j.caller) > 1 as by_several
            from judged as j
            where j.found_nothing or j.found_little or j.rephrased or j.rated_badly
            group by j.said, j.library
            order by count(*) desc, max(j.at) desc, j.said
            limit 1000
        ) as m
        where m.by_several or not _pgrag.is_slip(m.query, m.library)
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
A search failed its reader if it found nothing; if it found little, which is no hit with a
confidence of weak_confidence; if the same caller asked for nearly the same in other words within
two minutes; or if its mean rating was at most 2. Slips do not count, unless several callers make
them: queries with a misspelt word of the library, or without a word that any library or the
built-in model knows.
Queries are one topic if at least half of their words are the same, or the cosine of their vectors
by the built-in model is at least 0.65 (in Latin script). searches: searches that failed;
found_nothing, found_little, rephrased, rated_badly: how many for which reason, possibly several;
examples: up to five queries; library_name: null for searches in several; pages: the three nearest
pages of today, as a list of library, key, title, url and score. Reads at most the 1,000 queries
that failed most often. Errors: PGR01 for days, top_k or weak_confidence, PGR02.';

-- Whether a query is a slip of the keyboard: a word that nobody knows and that is near one of the
-- library's, or only words that neither a library nor the built-in model knows. Of scripts that the
-- model hardly knows every word may be one.
create or replace function _pgrag.is_slip(
    query text,
    library text
)
returns boolean
language plpgsql
stable
as $$
declare
    model_id constant bigint := (
        select min(m.model_id) from pgrag.embedding_models as m where m.provider = 'builtin'
    );
    unknown text[];
    word_count bigint;
begin
    select
        array_agg(w.word) filter (
            where w.word !~ '[^\u0001-\u024F]'
                and not k.is_known
                and _pgrag.understood_lexemes(w.word, 'simple', model_id) = '{}'
        ),
        count(*)
    into unknown, word_count
    from (
        select m.part[1] as word
        from regexp_matches(left(query, 1000), '\m([[:alpha:]]{3,40})\M', 'g') as m (part)
    ) as w
    cross join lateral (
        select coalesce(bool_or(v.search = ''), false) as is_stop_word,
            coalesce(bool_or(exists (
                select
                from pgrag.lexeme_statistics as s
                where s.library_id = c.library_id
                    and s.language = c.language
                    and s.lexeme = any (tsvector_to_array(v.search))
                    and s.document_count > 0
            )), false) as is_known
        from pgrag.corpus_statistics as c
        cross join lateral to_tsvector(c.language::regconfig, w.word) as v (search)
        where c.document_count > 0
    ) as k
    where not k.is_stop_word;
    return coalesce(cardinality(unknown) = word_count, false)
        or (
            (is_slip.library is null or exists (
                select from pgrag.libraries as l where l.name = is_slip.library
            ))
            and exists (
                select
                from unnest(unknown) as w (word)
                cross join lateral pgrag.suggest(w.word, is_slip.library, 1) as s
            )
        );
end;
$$;

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
