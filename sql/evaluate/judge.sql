-- One grade at a time, as people give them while they look at results. The lock on the set's row
-- lets one grade in at a time, so that two people lose nothing of each other.
create or replace function pgrag.judge(
    evaluation_set text,
    library text,
    query text,
    target text,
    grade integer default null,
    unit text default null,
    version text default null
)
returns table (
    query_id text,
    judged_unit text,
    query_count bigint,
    judgement_count bigint
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    library_name constant text := lower(btrim(judge.library));
    query_text constant text := btrim(judge.query);
    label constant text := btrim(judge.target);
    version_label text;
    judged_id bigint;
begin
    if coalesce(query_text, '') = '' then
        raise exception 'The query is empty.' using errcode = 'PGR01';
    elsif coalesce(label, '') = '' then
        raise exception 'The target is empty.'
            using errcode = 'PGR01', hint = 'Name a page of the library by its key.';
    elsif judge.grade not between 0 and 999999 then
        raise exception 'The grade of % is %, not a whole number from 0 to 999,999.',
            quote_literal(left(label, 100)), judge.grade
            using errcode = 'PGR01', hint = '0 is not relevant; null removes the judgement.';
    end if;
    perform _pgrag.library_id(judge.library);
    if judge.version is not null then
        version_label := (pgrag.resolve_version(library_name, judge.version)).version;
    end if;
    select s.set_id, s.unit
    into judged_id, judged_unit
    from _pgrag.judged_set(judge.evaluation_set, library_name, judge.unit) as s;
    -- A grade can be taken back also when its page is gone.
    if judge.grade is not null then
        perform _pgrag.require_judged(library_name, version_label, judged_unit, label);
    end if;

    -- A query has one id, also after it was taken out and graded again.
    query_id := coalesce(
        (
            select min(q.query_id)
            from pgrag.evaluation_queries as q
            where q.set_id = judged_id and btrim(q.query) = query_text
        ),
        'graded-' || md5(query_text)
    );
    if judge.grade is null then
        delete from pgrag.evaluation_judgements as j
        where j.set_id = judged_id and j.query_id = judge.query_id and j.target = label;
        delete from pgrag.evaluation_queries as q
        where q.set_id = judged_id
            and q.query_id = judge.query_id
            and not exists (
                select
                from pgrag.evaluation_judgements as j
                where j.set_id = q.set_id and j.query_id = q.query_id
            );
    else
        -- What is relevant counts.
        insert into pgrag.evaluation_queries as q (set_id, query_id, query)
        values (judged_id, judge.query_id, query_text)
        on conflict on constraint evaluation_queries_pkey do update
        set excluded = case
            when judge.grade = 0 then q.excluded
            else array_remove(q.excluded, label)
        end;
        insert into pgrag.evaluation_judgements (set_id, query_id, target, grade)
        values (judged_id, judge.query_id, label, judge.grade)
        on conflict on constraint evaluation_judgements_pkey do update set grade = excluded.grade;
    end if;
    perform _pgrag.digest_set(judged_id);
    query_count := (
        select count(*) from pgrag.evaluation_queries as q where q.set_id = judged_id
    );
    judgement_count := (
        select count(*) from pgrag.evaluation_judgements as j where j.set_id = judged_id
    );
    return next;
end;
$$;

comment on function pgrag.judge is
'Grades one result of a query in a labelled set, and makes the set and the query if they are
missing. A query of the same text keeps its id. target: what the set''s unit names (see
import_evaluation_set): a page by its key, a section KEY#ANCHOR, a passage KEY#cN. grade: a whole
number from 0 (not relevant); null removes the judgement, and a query that has none left. unit: of a
new set (default: page). version: only a target of this version counts as known (default: of any).
Returns the id of the query, the unit, and the numbers of queries and judgements of the set. Queries
without a grade above 0 are kept, but not run. Errors: PGR01, also for a set of another library or
unit and for a target that the library does not have; PGR02, PGR03.';

-- The set of a library with this name, locked; it is made if there is none.
create or replace function _pgrag.judged_set(
    name text,
    library text,
    wanted_unit text,
    out set_id bigint,
    out unit text
)
language plpgsql
volatile
as $$
#variable_conflict use_column
declare
    set_name constant text := _pgrag.evaluation_set_name(judged_set.name);
    other text;
begin
    if wanted_unit is not null then
        perform _pgrag.check_choice('unit', wanted_unit, '{page, section, document}');
    end if;
    other := (
        select min(s.library)
        from pgrag.evaluation_sets as s
        where s.name = set_name
        having bool_and(s.library <> judged_set.library)
    );
    if other is not null then
        raise exception 'The set % is about the library %, not %.',
            quote_literal(set_name), quote_literal(other), quote_literal(judged_set.library)
            using errcode = 'PGR01', hint = 'Grade results of that library, or name another set.';
    end if;
    insert into pgrag.evaluation_sets (name, library, unit, digest)
    values (set_name, judged_set.library, coalesce(wanted_unit, 'page'), '')
    on conflict on constraint evaluation_sets_name_key do nothing;
    select s.set_id, s.unit
    into judged_set.set_id, judged_set.unit
    from pgrag.evaluation_sets as s
    where s.name = set_name and s.library = judged_set.library
    for update;
    if unit <> wanted_unit then
        raise exception 'The set % judges each %, not each %.',
            quote_literal(set_name), unit, wanted_unit
            using errcode = 'PGR01', hint = 'Leave out the unit, or name another set.';
    end if;
end;
$$;

-- Raises an exception unless some version of the library, or the one with this label, has what a
-- judgement names.
create or replace function _pgrag.require_judged(
    library text,
    version text,
    unit text,
    target text
)
returns void
language plpgsql
stable
as $$
declare
    -- The page that the target may be on: a key may have "#", too.
    page_keys constant text[] := array(
        select left(require_judged.target, n - 1)
        from generate_series(2, length(require_judged.target) + 1) as n
        where n > length(require_judged.target) or substr(require_judged.target, n, 1) = '#'
    );
begin
    if exists (
        select
        from pgrag.libraries as l
        join pgrag.versions as v on v.library_id = l.library_id
        join pgrag.pages as p
            on p.library_id = v.library_id
            and p.version_id = v.version_id
            and p.key = any (page_keys)
        left join pgrag.documents as d
            on require_judged.unit <> 'page'
            and d.library_id = p.library_id
            and d.page_id = p.page_id
        where l.name = require_judged.library
            and (require_judged.version is null or v.label = require_judged.version)
            and require_judged.target = _pgrag.evaluation_target(
                require_judged.unit, p.key, d.anchor, d.sort_order
            )
    )
    then
        return;
    end if;
    raise exception 'Library % has no % %.',
        quote_literal(concat_ws('@', library, nullif(version, ''))), unit,
        quote_literal(left(target, 200))
        using errcode = 'PGR01',
            hint = case unit
                when 'page' then 'Targets are keys of pages.'
                when 'section' then 'Targets are KEY#ANCHOR.'
                else 'Targets are KEY#cN, where N is sort_order.'
            end;
end;
$$;
