-- What a library is tuned by: people's judgements of it where there are enough, else questions that
-- its own pages answer. A question made of a page's own words would find them there, so the field
-- that it was taken from is muted, in every page alike: left out of the right page only, the others
-- would win by theirs, and every weight of that field would look too high.
create or replace function pgrag._collect_tuning_queries(
    library text,
    source text,
    version_ids bigint[],
    query_count integer,
    seed bigint
)
returns text
language plpgsql
volatile
set search_path from current
set client_min_messages = warning
as $$
declare
    -- With fewer, nothing would be certain enough to be kept.
    enough constant integer := 50;
    used text := source;
begin
    drop table if exists pg_temp.tuning_questions, pg_temp.tuning_answers;
    create temporary table tuning_questions (
        question_id text primary key,
        kind text not null,
        query text not null,
        excluded text[] not null default '{}'
    ) on commit drop;
    create temporary table tuning_answers (
        question_id text not null,
        page_id bigint not null,
        grade integer not null
    ) on commit drop;

    if coalesce(used, 'judgements') = 'judgements' then
        perform pgrag._collect_judged(library, version_ids, query_count, seed);
        used := coalesce(used, case when pgrag._question_count() >= enough then 'judgements' end);
    end if;
    if coalesce(used, 'feedback') = 'feedback' then
        perform pgrag._collect_rated(library, version_ids, query_count, seed);
        used := coalesce(used, case when pgrag._question_count() >= enough then 'feedback' end);
    end if;
    if coalesce(used, 'library') = 'library' then
        used := 'library';
        perform pgrag._collect_own(library, version_ids, query_count, seed);
    end if;
    analyze pg_temp.tuning_questions;
    analyze pg_temp.tuning_answers;
    return used;
end;
$$;

create or replace function pgrag._question_count()
returns bigint
language plpgsql
stable
parallel restricted
set search_path from current
as $$
begin
    return (select count(*) from pg_temp.tuning_questions);
end;
$$;

-- These sets measure the engine itself. A library tuned to them would make their figures worthless.
create or replace function pgrag._is_for_measuring(
    evaluation_set text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select _is_for_measuring.evaluation_set
        ~ '^(eval-)?(scifact|xquad-(en|de|ru|es)|(k8s|mdn|obsidian)-anchor)($|[-._])';
$$;

-- Labelled sets of this library. Each chunk or section that is judged stands for its page.
create or replace function pgrag._collect_judged(
    library text,
    version_ids bigint[],
    query_count integer,
    seed bigint
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    delete from pg_temp.tuning_questions;
    delete from pg_temp.tuning_answers;
    insert into pg_temp.tuning_answers (question_id, page_id, grade)
    select s.name || ':' || j.query_id, p.page_id, max(j.grade)
    from pgrag.evaluation_sets as s
    join pgrag.evaluation_judgements as j on j.set_id = s.set_id
    join pgrag.libraries as l on l.name = _collect_judged.library
    join pgrag.pages as p
        on p.library_id = l.library_id
        and p.version_id = any (_collect_judged.version_ids)
        and p.key = case s.unit
            when 'page' then j.target
            else regexp_replace(j.target, '#[^#]*$', '')
        end
    where s.library = _collect_judged.library
        and not pgrag._is_for_measuring(s.name)
        and not pgrag._is_for_measuring(s.library)
        and j.grade > 0
    group by s.name, j.query_id, p.page_id;

    insert into pg_temp.tuning_questions (question_id, kind, query, excluded)
    select s.name || ':' || q.query_id, 'judged', q.query, q.excluded
    from pgrag.evaluation_sets as s
    join pgrag.evaluation_queries as q on q.set_id = s.set_id
    where s.library = _collect_judged.library
        and (pgrag.parse_search_text(q.query)).words ~ '\S'
        and exists (
            select
            from pg_temp.tuning_answers as a
            where a.question_id = s.name || ':' || q.query_id
        )
    order by hashtextextended(s.name || ':' || q.query_id, _collect_judged.seed)
    limit _collect_judged.query_count;
    delete from pg_temp.tuning_answers as a
    where not exists (
        select from pg_temp.tuning_questions as q where q.question_id = a.question_id
    );
end;
$$;

-- Ratings, as graded judgements of pages. The function is called by name: what is observed lies in
-- a folder above this one.
create or replace function pgrag._collect_rated(
    library text,
    version_ids bigint[],
    query_count integer,
    seed bigint
)
returns void
language plpgsql
volatile
set search_path from current
as $$
begin
    delete from pg_temp.tuning_questions;
    delete from pg_temp.tuning_answers;
    if to_regproc('pgrag.judgements_from_feedback') is null
        or pgrag._is_for_measuring(library)
    then
        return;
    end if;
    execute
        $sql$
        insert into pg_temp.tuning_answers (question_id, page_id, grade)
        select f.query, p.page_id, max(f.grade)
        from pgrag.judgements_from_feedback($1) as f
        join pgrag.libraries as l on l.name = $1
        join pgrag.pages as p
            on p.library_id = l.library_id
            and p.version_id = any ($2)
            and p.key = f.page_key
        where f.grade > 0 and (pgrag.parse_search_text(f.query)).words ~ '\S'
        group by f.query, p.page_id
        $sql$
    using library, version_ids;
    insert into pg_temp.tuning_questions (question_id, kind, query)
    select a.question_id, 'rated', a.question_id
    from (select distinct a.question_id from pg_temp.tuning_answers as a) as a
    order by hashtextextended(a.question_id, _collect_rated.seed)
    limit _collect_rated.query_count;
    delete from pg_temp.tuning_answers as a
    where not exists (
        select from pg_temp.tuning_questions as q where q.question_id = a.question_id
    );
end;
$$;

-- Descriptions teach about every field, headings about all but the path, titles about all but the
-- title and its address.
create or replace function pgrag._collect_own(
    library text,
    version_ids bigint[],
    query_count integer,
    seed bigint
)
returns void
language plpgsql
volatile
set search_path from current
set enable_nestloop = off
set jit = off
as $$
declare
    owner_id bigint := pgrag._library_id(library);
begin
    delete from pg_temp.tuning_questions;
    delete from pg_temp.tuning_answers;
    insert into pg_temp.tuning_answers (question_id, page_id, grade)
    with texts as (
        select 'description' as kind, p.page_id, p.language, t.text
        from pgrag.pages as p
        cross join lateral (
            select coalesce(p.front_matter ->> 'description', p.front_matter ->> 'summary') as text
        ) as t
        where p.library_id = owner_id
            and p.version_id = any (_collect_own.version_ids)
            and jsonb_typeof(p.front_matter) = 'object'
            -- What the page says in these very words is no question to it.
            and case
                when t.text is null then false
                else strpos(
                    pgrag._as_question(p.body), pgrag._as_question(left(t.text, 60))
                ) = 0
            end
        union all
        select 'heading', d.page_id, d.language, d.heading
        from pgrag.documents as d
        where d.library_id = owner_id
            and d.version_id = any (_collect_own.version_ids)
            and d.level = 1
            and d.heading <> ''
        union all
        select 'title', p.page_id, p.language, p.title
        from pgrag.pages as p
        where p.library_id = owner_id and p.version_id = any (_collect_own.version_ids)
    ),
    asked as (
        select distinct t.kind, t.page_id, t.language, pgrag._as_question(t.text) as query
        from texts as t
        where length(t.text) between 3 and 400
    ),
    counted as (
        select
            a.*,
            count(*) over (partition by a.kind, a.query) as page_count,
            bool_or(a.kind = 'title') over (partition by a.query) as is_title,
            row_number() over (
                partition by a.kind order by hashtextextended(a.query, _collect_own.seed), a.page_id
            ) as place
        from asked as a
    ),
    -- Enough for the choice that follows, so that not every text has to be parsed.
    sampled as (
        select c.*
        from counted as c
        where c.page_count <= 5
            and (c.kind <> 'heading' or not c.is_title)
            and c.place <= 10 * _collect_own.query_count
    ),
    lexemes as (
        select s.kind, s.page_id, s.language, s.query, t.lexeme collate "C" as lexeme
        from sampled as s
        cross join lateral unnest(
            to_tsvector(
                s.language::regconfig, pgrag.searchable_text(s.query, camel_case => false)
            )
        ) as t
    ),
    sayings as (
        select
            t.kind, t.page_id, t.query, count(*) as lexeme_count,
            sum(
                pgrag.inverse_document_frequency(f.document_count, n.document_count)
            ) as information
        from lexemes as t
        join pgrag.corpus_statistics as n
            on n.library_id = owner_id and n.language = t.language
        left join pgrag.lexeme_statistics as f
            on f.library_id = owner_id and f.language = t.language and f.lexeme = t.lexeme
        group by t.kind, t.page_id, t.query
    )
    -- Words that are everywhere ("Overview", "See also") ask for nothing: together they shall be
    -- as telling as one that is in a twentieth of the documents.
    select distinct s.kind || ':' || s.query, s.page_id, 1
    from sayings as s
    where s.lexeme_count between case s.kind when 'description' then 3 else 2 end
            and case s.kind when 'description' then 40 else 12 end
        and s.information >= 3;

    -- Half descriptions, a quarter titles, the rest headings, as far as there are any; what one
    -- kind lacks, the others give.
    insert into pg_temp.tuning_questions (question_id, kind, query)
    select c.question_id, c.kind, substr(c.question_id, length(c.kind) + 2)
    from (
        select
            q.*,
            row_number() over (
                partition by q.kind
                order by hashtextextended(q.question_id, _collect_own.seed), q.question_id
            ) as place
        from (
            select distinct a.question_id, split_part(a.question_id, ':', 1) as kind
            from pg_temp.tuning_answers as a
        ) as q
    ) as c
    order by
        c.place > case c.kind
            when 'description' then (_collect_own.query_count + 1) / 2
            else _collect_own.query_count / 4
        end,
        array_position('{heading, description, title}'::text[], c.kind),
        c.place
    limit _collect_own.query_count;
    delete from pg_temp.tuning_answers as a
    where not exists (
        select from pg_temp.tuning_questions as q where q.question_id = a.question_id
    );
end;
$$;

-- Plain words in lower case: no sign in it that a search would obey.
create or replace function pgrag._as_question(
    input text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.btrim(
        pg_catalog.regexp_replace(
            pg_catalog.lower(pgrag.plain_text(_as_question.input)),
            '[^\w.''-]+|(?<!\w)[-.'']+',
            ' ',
            'g'
        )
    );
$$;
