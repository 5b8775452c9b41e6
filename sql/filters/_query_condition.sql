-- Turns the values of a field into a filter: equal to one of them, a pattern with *, or a range.
create or replace function _pgrag.query_condition(
    field text,
    kind text,
    operator text,
    written text,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    is_equality boolean := operator in ('', '=', '!=');
    choices jsonb := '[]';
    others jsonb := '[]';
    text_value text;
    -- An unquoted value: it may be a pattern, a range, or no text.
    bare text;
    is_alone boolean;
    scalar jsonb;
    condition jsonb;
begin
    for text_value, bare, is_alone in
        select
            v.value,
            case when kind not in ('scope', 'page') then v.bare end,
            count(*) over () = 1
        from _pgrag.query_values(written, start) as v
    loop
        scalar := coalesce(_pgrag.query_scalar(kind, bare), to_jsonb(text_value));
        condition := null;
        if not is_alone
            and (not is_equality or field in ('version', 'depth_min', 'depth_max'))
        then
            perform _pgrag.query_error(
                start, format('%s takes one value here.', field),
                'A list means any of its members, and is for "equal" only; version:* is every'
                ' version.'
            );
        elsif not is_equality then
            condition := jsonb_build_object(operator, scalar);
        elsif bare = '*' then
            condition := '{"exists": true}';
        elsif kind in ('text', 'json') and strpos(bare, '*') > 0 then
            condition := jsonb_build_object(
                'like', replace(regexp_replace(bare, '([\\%_])', '\\\1', 'g'), '*', '%')
            );
        elsif strpos(bare, '..') > 0
            and (
                kind in ('time', 'number')
                or kind = 'json' and bare ~ '^(-?\d[\d.T:Z+-]*)?\.\.(-?\d[\d.T:Z+-]*)?$'
            )
        then
            select jsonb_object_agg(b.operator, _pgrag.query_scalar(kind, b.value))
            into condition
            from (
                values
                    ('>=', substring(bare from '^(.*?)\.\.')),
                    ('<=', substring(bare from '\.\.(.*)$'))
            ) as b (operator, value)
            where b.value <> '';
            if condition is null then
                perform _pgrag.query_error(
                    start, 'a range needs a value on at least one side.',
                    format('Write %s:A..B.', field)
                );
            end if;
        elsif kind in ('list', 'path', 'links') and strpos(bare, '*') > 0 then
            perform _pgrag.query_error(
                start, format('%s takes no pattern, got %s.', field, bare),
                format('Write the whole name, or %s:"%s".', field, bare)
            );
        elsif scalar <> to_jsonb(text_value) then
            -- Front matter is typed, and a user cannot know the type: try both.
            choices := choices || jsonb_build_array(scalar, text_value);
        else
            choices := choices || scalar;
        end if;
        if condition is not null then
            others := others || jsonb_build_object(field, condition);
        end if;
    end loop;

    if choices <> '[]' then
        others := others || jsonb_build_object(
            field,
            case
                when jsonb_array_length(choices) = 1 then choices -> 0
                -- A plain list would mean a single path.
                when kind = 'path' then jsonb_build_object('in', choices)
                else choices
            end
        );
    end if;
    return case
        when jsonb_array_length(others) = 1 then others -> 0
        else jsonb_build_object('or', others)
    end;
end;
$$;

-- An unquoted value: of the front matter, with the type that it looks like.
create or replace function _pgrag.query_scalar(
    kind text,
    value text
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when query_scalar.kind = 'json'
            and query_scalar.value ~ '^(-?(0|[1-9]\d{0,17})(\.\d{1,18})?|true|false|null)$'
        then query_scalar.value::jsonb
        else pg_catalog.to_jsonb(query_scalar.value)
    end;
$$;

-- The values of a field, a,b or (a b); bare is the value if it is not quoted.
create or replace function _pgrag.query_values(
    written text,
    start integer
)
returns table (
    value text,
    bare text
)
language plpgsql
immutable
parallel safe
as $$
declare
    part text;
    -- The previous part: a value, a blank, or a comma that needs a value.
    before text := ',';
begin
    if written ~ '^\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)$' then
        written := substr(written, 2, length(written) - 2);
        start := start + 1;
    end if;
    for part in
        select m.part[1]
        from regexp_matches(written, '\s+|,|"(?:[^"\\]|\\.)*"|[^\s,"]+|"', 'g') as m (part)
    loop
        if part = ',' and before = ',' then
            exit;
        elsif part ~ '^[\s,]' then
            before := case before when ',' then ',' else part end;
        elsif part = '"' or before !~ '^[\s,]' then
            perform _pgrag.query_error(
                start,
                case part
                    when '"' then 'this quote is not closed.'
                    else format('a comma or space is missing before %s.', part)
                end,
                'Quotes in a quoted value are written \".'
            );
        else
            bare := substring(part from '^[^"].*$');
            value := coalesce(
                bare, regexp_replace(substr(part, 2, length(part) - 2), '\\(.)', '\1', 'g')
            );
            return next;
            before := part;
        end if;
        start := start + length(part);
    end loop;
    if before = ',' then
        perform _pgrag.query_error(
            start, 'a value is missing here.',
            'Write tags:a,b or tags:(a b), without blanks after the colon and between commas.'
        );
    end if;
end;
$$;
