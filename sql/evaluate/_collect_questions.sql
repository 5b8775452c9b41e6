-- The questions for tuning: human judgements of pages, ratings of hits, or questions that the
-- library's own pages answer. Questions are sampled by a hash of id and seed.
create or replace function _pgrag.collect_questions(
    library_id bigint,
    version_id bigint,
    source text,
    query_count integer,
    seed bigint
)
returns table (
    number bigint,
    is_validation boolean,
    kind text,
    words text,
    excluded_pages bigint[],
    page_ids bigint[],
    grades integer[]
)
language plpgsql
stable
set enable_nestloop = off
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    with graded as (
        select g.question_id, g.kind, g.query, g.excluded, p.page_id, max(g.grade) as grade
        from (
            select
                s.name || ':' || q.query_id as question_id, 'judged' as kind, q.query, q.excluded,
                -- A judgement of a passage or section counts for its page.
                case s.unit
                    when 'page' then j.target
                    else regexp_replace(j.target, '#[^#]*$', '')
                end as page_key,
                j.grade
            from pgrag.libraries as l
            join pgrag.evaluation_sets as s
                on s.library = l.name and not s.source @> '{"held_out": true}'
            join pgrag.evaluation_queries as q on q.set_id = s.set_id
            join pgrag.evaluation_judgements as j
                on j.set_id = q.set_id and j.query_id = q.query_id
            where collect_questions.source = 'judgements'
                and l.library_id = collect_questions.library_id
            union all
            select f.query, 'rated', f.query, '{}', f.page_key, f.grade
            from pgrag.libraries as l
            cross join lateral pgrag.judgements_from_feedback(l.name) as f
            where collect_questions.source = 'feedback'
                and l.library_id = collect_questions.library_id
            union all
            select o.kind || ':' || o.query, o.kind, o.query, '{}', o.page_key, 1
            from _pgrag.own_questions(
                collect_questions.library_id, collect_questions.version_id,
                10 * collect_questions.query_count, collect_questions.seed
            ) as o
            where collect_questions.source = 'library'
        ) as g
        join pgrag.pages as p
            on p.library_id = collect_questions.library_id
            and p.version_id = collect_questions.version_id
            and p.key = g.page_key
        where g.grade > 0
        group by g.question_id, g.kind, g.query, g.excluded, p.page_id
    ),
    questions as (
        select
            g.question_id, g.kind, (_pgrag.parse_search_text(g.query)).words, g.excluded,
            array_agg(g.page_id) as page_ids, array_agg(g.grade) as grades
        from graded as g
        group by g.question_id, g.kind, g.query, g.excluded
    ),
    ordered as (
        select
            q.*,
            row_number() over (
                partition by q.kind
                order by hashtextextended(q.question_id, collect_questions.seed), q.question_id
            ) as nth
        from questions as q
        where q.words ~ '\S'
    ),
    -- Half descriptions, a quarter titles, the rest headings; missing ones are replaced.
    sampled as (
        select o.*
        from ordered as o
        order by
            o.nth > case o.kind
                when 'description' then (collect_questions.query_count + 1) / 2
                else collect_questions.query_count / 4
            end,
            array_position('{description, heading, title}'::text[], o.kind),
            o.nth
        limit collect_questions.query_count
    )
    select
        row_number() over (order by s.question_id collate "C"),
        -- Every third question is for validation; the rest are for training.
        row_number() over (
            order by hashtextextended(s.question_id, collect_questions.seed + 1), s.question_id
        ) % 3 = 0,
        s.kind, s.words,
        array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = collect_questions.library_id
                and p.version_id = collect_questions.version_id
                and p.key = any (s.excluded)
                and p.page_id <> all (s.page_ids)
        ),
        s.page_ids, s.grades
    from sampled as s;
end;
$$;

-- Descriptions, headings and titles, each as a question for its own page.
create or replace function _pgrag.own_questions(
    library_id bigint,
    version_id bigint,
    sample_size integer,
    seed bigint
)
returns table (
    kind text,
    query text,
    page_key text
)
language sql
stable
set enable_nestloop = on
set jit = off
as $$
    with questions as (
        select distinct t.kind, p.key, p.language, _pgrag.as_question(t.text) as query
        from pgrag.pages as p
        cross join lateral (
            select 'title' as kind, p.title as text
            union all
            select 'heading', d.heading
            from pgrag.documents as d
            where d.library_id = p.library_id and d.page_id = p.page_id and d.level = 1
            union all
            select 'description', said.text
            from coalesce(
                p.front_matter ->> 'description', p.front_matter ->> 'summary'
            ) as said (text)
            where said.text is not null
                -- A page that repeats its description is found with any settings.
                and strpos(_pgrag.as_question(p.body), _pgrag.as_question(left(said.text, 60))) = 0
        ) as t
        where p.library_id = own_questions.library_id
            and p.version_id = own_questions.version_id
            and length(t.text) between 3 and 400
    ),
    counted as (
        select
            q.*,
            count(*) over (partition by q.kind, q.query) as page_count,
            bool_or(q.kind = 'title') over (partition by q.query) as is_title,
            row_number() over (
                partition by q.kind
                order by hashtextextended(q.query, own_questions.seed), q.key
            ) as nth
        from questions as q
    )
    select distinct c.kind, c.query, c.key
    from counted as c
    cross join lateral (
        select
            count(*) as lexeme_count,
            sum(
                pgrag.inverse_document_frequency(f.document_count, n.document_count)
            ) as information
        from unnest(_pgrag.query_vector(c.language, c.query)) as w
        join pgrag.corpus_statistics as n
            on n.library_id = own_questions.library_id and n.language = c.language
        left join pgrag.lexeme_statistics as f
            on f.library_id = n.library_id and f.language = n.language and f.lexeme = w.lexeme
    ) as t
    where c.page_count <= 5
        and (c.kind <> 'heading' or not c.is_title)
        and c.nth <= own_questions.sample_size
        and t.lexeme_count between case c.kind when 'description' then 3 else 2 end
            and case c.kind when 'description' then 40 else 12 end
        -- Not "Overview" or "See also": a question carries at least the information of a term in
        -- a twentieth of the passages.
        and t.information >= 3;
$$;

-- Plain words in lower case, without operators of the query language.
create or replace function _pgrag.as_question(
    input text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.btrim(
        pg_catalog.regexp_replace(
            pg_catalog.lower(_pgrag.plain_text(as_question.input)),
            '[^\w.''-]+|(?<!\w)[-.'']+',
            ' ',
            'g'
        )
    );
$$;
