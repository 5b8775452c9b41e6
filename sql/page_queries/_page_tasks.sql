-- The tasks in a page's Markdown, "- [ ] text", with their lines in the source; code is skipped.
create or replace function _pgrag.page_tasks(
    key text,
    head text,
    body text
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    item constant text := '^(?:\s*> ?)*(\s*)(?:[-*+]|\d{1,9}[.)])\s+\[(.)\](?:\s+(.*))?$';
    tasks jsonb[] := '{}';
    line text;
    number integer;
    fence text;
    heading text;
    parts text[];
    indent integer;
    indents integer[] := '{}';
    -- The possible parents of the next task, from the outermost to the innermost.
    above integer[] := '{}';
    task jsonb;
    fields jsonb;
begin
    if strpos(body, '] ') = 0 or body !~ '[-*+.)]\s+\[.\]\s' then
        return '[]';
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
            heading := btrim(regexp_replace(line, '^\s*#+\s+|\s+#+\s*$', '', 'g'));
            above := '{}';
            continue;
        elsif strpos(line, '[') = 0 then
            continue;
        end if;
        parts := regexp_match(line, item);
        if parts is null then
            continue;
        end if;
        indent := length(replace(parts[1], E'\t', '    '));
        while indents[above[cardinality(above)]] >= indent loop
            above := trim_array(above, 1);
        end loop;
        task := jsonb_build_object(
            'text', coalesce(parts[3], ''), 'status', parts[2], 'checked', parts[2] <> ' ',
            'completed', parts[2] in ('x', 'X'), 'fullyCompleted', parts[2] in ('x', 'X'),
            'line', number, 'path', key, 'heading', heading, 'task', true,
            'parent', tasks[above[cardinality(above)]] -> 'line',
            'tags', array(
                select m[1]
                from regexp_matches(parts[3], '(?:^|\s)(#[^\s#,.;:!?()]+)', 'g') as m
            )
        );
        if not (task -> 'completed')::boolean then
            for n in 1..cardinality(above) loop
                tasks[above[n]] := tasks[above[n]] || '{"fullyCompleted": false}';
            end loop;
        end if;
        -- Fields in the text: [name:: value] and the signs for dates.
        fields := (
            select coalesce(jsonb_object_agg(f.name, f.value) filter (where f.name <> ''), '{}')
            from (
                select
                    btrim(m[1]) as name,
                    case
                        when w.value ~ '^-?\d{1,15}(\.\d{1,15})?$' or w.value in ('true', 'false')
                        then regexp_replace(w.value, '^(-?)0+(?=\d)', '\1')::jsonb
                        when w.value <> '' then to_jsonb(w.value)
                    end as value
                from regexp_matches(parts[3], '[[(]([^][():]+)::([^][()]*)[])]', 'g') as m
                cross join lateral btrim(m[2]) as w (value)
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
                    parts[3], '(✅|➕|🛫|⏳|📅|🗓)\uFE0F?\s*(\d{4}-\d\d-\d\d)', 'g'
                ) as m
            ) as f
        );
        tasks := tasks || (task || fields);
        indents := indents || indent;
        above := above || cardinality(tasks);
    end loop;
    return to_jsonb(tasks);
end;
$$;
