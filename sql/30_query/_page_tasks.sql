-- The tasks of a page's Markdown, "- [ ] text", with their lines in the source; none in code.
create or replace function pgrag._page_tasks(
    key text,
    head text,
    body text
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    item constant text := '^(?:\s*> ?)*(\s*)(?:[-*+]|\d{1,9}[.)])\s+\[(.)\](?:\s+(.*))?$';
    tasks jsonb := '[]';
    line text;
    number integer;
    fence text;
    found text[];
    heading text;
    section integer := 0;
begin
    if strpos(body, '] ') = 0 or body !~ '[-*+.)]\s+\[.\]\s' then
        return tasks;
    end if;
    number := length(head) - length(replace(head, E'\n', ''));
    foreach line in array regexp_split_to_array(body, '\r?\n') loop
        number := number + 1;
        if fence is not null then
            if line ~ ('^(\s|>)*' || fence || '+\s*$') then
                fence := null;
            end if;
            continue;
        end if;
        fence := substring(
            line from '^(?:(?:\s|>)*(?:[-*+]|\d{1,9}[.)])?\s+|(?:\s*>)*\s{0,3}|)'
                || '(`{3,}(?=[^`]*$)|~{3,})'
        );
        if fence is not null then
            continue;
        elsif line ~ '^\s{0,3}#{1,6}\s' then
            section := section + 1;
            heading := btrim(regexp_replace(line, '^\s*#+\s+|\s+#+\s*$', '', 'g'));
            continue;
        elsif strpos(line, '[') = 0 then
            continue;
        end if;
        found := regexp_match(line, item);
        if found is null then
            continue;
        end if;
        tasks := tasks || (
            pgrag._page_task(key, heading, number, found[2], coalesce(found[3], ''))
            || jsonb_build_object(
                'section', section, 'indent', length(replace(found[1], E'\t', '    '))
            )
        );
    end loop;
    return pgrag._with_subtasks(tasks);
end;
$$;

-- One task, with the fields [name:: value] and the signs for dates that its text holds.
create or replace function pgrag._page_task(
    key text,
    heading text,
    line integer,
    status text,
    words text
)
returns jsonb
language sql
immutable
parallel safe
set search_path from current
as $$
    select jsonb_build_object(
            'text', _page_task.words, 'status', _page_task.status,
            'completed', _page_task.status in ('x', 'X'), 'checked', _page_task.status <> ' ',
            'line', _page_task.line, 'path', _page_task.key,
            'heading', _page_task.heading, 'task', true,
            'tags', array(
                select m[1]
                from regexp_matches(_page_task.words, '(?:^|\s)(#[^\s#,.;:!?()]+)', 'g') as m
            )
        )
        || (
            select coalesce(jsonb_object_agg(f.name, f.value), '{}')
            from (
                select btrim(m[1]) as name, pgrag._task_value(btrim(m[2])) as value
                from regexp_matches(_page_task.words, '[[(]([^][():]+)::([^][()]*)[])]', 'g') as m
                union all
                select
                    case m[1]
                        when '✅' then 'completion'
                        when '➕' then 'created'
                        when '🛫' then 'start'
                        when '⏳' then 'scheduled'
                        else 'due'
                    end,
                    to_jsonb(m[2])
                from regexp_matches(
                    _page_task.words, '(✅|➕|🛫|⏳|📅|🗓)\uFE0F?\s*(\d{4}-\d\d-\d\d)', 'g'
                ) as m
            ) as f
            where f.name <> ''
        );
$$;

create or replace function pgrag._task_value(
    written text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when _task_value.written ~ '^-?\d{1,15}(\.\d{1,15})?$'
            or _task_value.written in ('true', 'false')
        then (pg_catalog.regexp_replace(_task_value.written, '^(-?)0+(?=\d)', '\1'))::jsonb
        when _task_value.written = '' then null
        else pg_catalog.to_jsonb(_task_value.written)
    end;
$$;

-- Each task with the line of the one that it stands below, and whether all below it are done too.
create or replace function pgrag._with_subtasks(
    tasks jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    above integer[] := '{}';
    is_full boolean[] := '{}';
    parents integer[] := '{}';
    indents integer[];
    sections integer[];
    count integer := jsonb_array_length(tasks);
begin
    if count = 0 then
        return tasks;
    end if;
    indents := array(
        select (t.task ->> 'indent')::integer
        from jsonb_array_elements(tasks) with ordinality as t (task, place)
        order by t.place
    );
    sections := array(
        select (t.task ->> 'section')::integer
        from jsonb_array_elements(tasks) with ordinality as t (task, place)
        order by t.place
    );
    for n in 1..count loop
        while cardinality(above) > 0
            and (
                indents[above[cardinality(above)]] >= indents[n]
                or sections[above[cardinality(above)]] <> sections[n]
            )
        loop
            above := above[:cardinality(above) - 1];
        end loop;
        parents[n] := above[cardinality(above)];
        above := above || n;
        is_full[n] := (tasks -> n - 1 ->> 'completed')::boolean;
    end loop;
    for n in reverse count..1 loop
        if parents[n] is not null and not is_full[n] then
            is_full[parents[n]] := false;
        end if;
    end loop;
    return (
        select jsonb_agg(
            (t.task - 'indent' - 'section') || jsonb_build_object(
                'fullyCompleted', is_full[t.place],
                'parent', tasks -> parents[t.place] - 1 -> 'line'
            )
            order by t.place
        )
        from jsonb_array_elements(tasks) with ordinality as t (task, place)
    );
end;
$$;
