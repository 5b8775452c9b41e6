create or replace function pgrag.evaluation_sets()
returns table (
    name text,
    library text,
    unit text,
    queries bigint,
    judgements bigint,
    runs bigint,
    source jsonb,
    created_at timestamptz
)
language sql
stable
parallel safe
set search_path from current
as $$
    select
        s.name, s.library, s.unit,
        (select count(*) from pgrag.evaluation_queries as q where q.set_id = s.set_id),
        (select count(*) from pgrag.evaluation_judgements as j where j.set_id = s.set_id),
        (select count(*) from pgrag.evaluation_runs as r where r.set_name = s.name),
        s.source, s.created_at
    from pgrag.evaluation_sets as s
    order by s.name;
$$;

comment on function pgrag.evaluation_sets is
'The labelled sets by name: the library that each set is about, the judged unit (page, section or
document), numbers of queries, judgements and runs, and the source of the import.';

create or replace function _pgrag.evaluation_set_id(
    evaluation_set text
)
returns bigint
language plpgsql
stable
parallel safe
as $$
declare
    set_id bigint;
begin
    select s.set_id
    into set_id
    from pgrag.evaluation_sets as s
    where s.name = lower(btrim(evaluation_set_id.evaluation_set))
    -- Sets of several libraries may share a name: the oldest one counts.
    order by s.set_id
    limit 1;
    if set_id is null then
        raise exception 'There is no evaluation set %.',
            quote_nullable(left(evaluation_set_id.evaluation_set, 100))
            using errcode = 'PGR10',
                hint = coalesce(
                    (
                        select 'There are: ' || string_agg(s.name, ', ' order by s.name) || '.'
                        from pgrag.evaluation_sets as s
                    ),
                    'Import one: pgrag eval import SET PATH.'
                );
    end if;
    return set_id;
end;
$$;
