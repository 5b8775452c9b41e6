-- One field:value of a query as a filter; null where the name is an everyday word and the value
-- does not look like one of its own (key:value, position:absolute, level:info).
create or replace function pgrag._query_filter(
    part text,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    cut text[] := regexp_match(part, '^([+-]?)(front_matter\.[^:]*|[a-z_]+):([<>=!~]*)(.*)$');
    operator text := cut[3];
    value text := cut[4];
    field text;
    kind text;
    shape text;
    filter jsonb;
    message text;
    way_out text;
begin
    select f.field, f.kind, f.shape
    into field, kind, shape
    from pgrag._query_fields() as f
    where f.name = cut[2];
    field := coalesce(field, cut[2]);
    kind := coalesce(kind, 'json');
    if operator || value !~ coalesce(shape, '') then
        return null;
    end if;
    if cut[2] in ('before', 'after') then
        operator := case cut[2] when 'before' then '<' else '>' end || operator;
    end if;
    start := start + length(part) - length(value);
    if operator not in ('', '=', '!=', '<', '<=', '>', '>=')
        or kind = 'scope' and operator || cut[1] not in ('', '=', '+')
    then
        perform pgrag._query_error(
            start - length(cut[3]),
            case
                when kind = 'scope' then format('%s cannot be excluded or compared.', cut[2])
                else format('%s has no operator %s.', cut[2], cut[3])
            end,
            case kind
                when 'scope' then format('Write %s:NAME.', cut[2])
                else 'The operators are =, !=, <, <=, > and >=; a value of such signs needs quotes.'
            end
        );
    end if;

    filter := pgrag._query_condition(
        field, kind, operator, pgrag._query_values(value, start), start
    );
    if operator = '!=' then
        filter := jsonb_build_object('not', filter);
    end if;
    if kind <> 'scope' then
        begin
            perform pgrag.filter_predicate(filter);
        exception
            when sqlstate 'PGR06' then
                get stacked diagnostics message = message_text, way_out = pg_exception_hint;
                perform pgrag._query_error(start, message, nullif(way_out, ''));
        end;
    end if;
    return case
        when cut[1] <> '-' then filter
        else coalesce(filter -> 'not', jsonb_build_object('not', filter))
    end;
end;
$$;

-- The names of a query's filters: what they are called in filter_predicate, of which kind, and how
-- a value must begin (or look) for names that stand before a colon in everyday text as well.
create or replace function pgrag._query_fields()
returns table (
    name text,
    field text,
    kind text,
    shape text
)
language sql
immutable
parallel safe
as $$
    values
        ('tag', 'tags', 'list', null), ('tags', 'tags', 'list', null),
        ('types', 'types', 'list', null), ('content_tags', 'content_tags', 'list', null),
        ('keyword', 'keywords', 'list', null), ('keywords', 'keywords', 'list', null),
        ('type', 'type', 'text', null), ('topic', 'topic', 'text', null),
        ('title', 'title', 'text', null), ('heading', 'heading', 'text', null),
        ('root_section', 'root_section', 'text', null),
        ('section', 'section_path', 'path', null), ('section_path', 'section_path', 'path', null),
        ('path', 'path', 'path', null),
        ('lang', 'language', 'language', null), ('language', 'language', 'language', null),
        ('library', 'library', 'scope', null), ('version', 'version', 'scope', null),
        ('links', 'links', 'links', null),
        ('link', 'link', 'text', '["*/.]'), ('key', 'key', 'text', '["*/.]'),
        ('url', 'url', 'text', '["*/.]'), ('page', 'page', 'page', '["*/.]'),
        ('uuid', 'uuid', 'text', '^(=|!=)?(["(*]|[0-9a-fA-F-]{8})'),
        ('created', 'created', 'time', null), ('modified', 'modified', 'time', null),
        ('date', 'created', 'time', '^[<>=!]*("|\d{4}-|\.\.\d)'),
        ('before', 'created', 'time', '^"?\d{4}-'), ('after', 'created', 'time', '^"?\d{4}-'),
        ('position', 'position', 'text', '^(=|!=)?["(]?(intro|middle|conclusion)\M'),
        ('depth', 'depth', 'number', '^[<>=!]*["(.]*\d'),
        ('depth_min', 'depth_min', 'minimum', '^=?"?\d'),
        ('depth_max', 'depth_max', 'minimum', '^=?"?\d'),
        ('heading_level', 'heading_level', 'number', '^[<>=!]*["(.]*\d'),
        ('level', 'level', 'number', '^[<>=!]*["(.]*\d');
$$;

-- The values of a field: a,b or (a b), each with whether it was quoted and where it stands.
create or replace function pgrag._query_values(
    value text,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    is_list boolean := value ~ '^\((?:[^()"]|"(?:[^"\\]|\\.)*")*\)$';
    part text;
    found jsonb := '[]';
    -- What stood before: a value, a blank, or a comma that waits for one.
    before text := ',';
begin
    if is_list then
        value := substr(value, 2, length(value) - 2);
        start := start + 1;
    end if;
    for part in
        select m.part[1]
        from regexp_matches(value, '\s+|,|"(?:[^"\\]|\\.)*"|[^\s,"]+|"', 'g') as m (part)
    loop
        if part = ',' and before = ',' then
            exit;
        elsif part = '"' or part not in (',') and part !~ '^\s' and before = 'value' then
            perform pgrag._query_error(
                start,
                case part
                    when '"' then 'this quote is not closed.'
                    else format('a comma or blank is missing before %s.', part)
                end,
                'Quotes in a quoted value are written \".'
            );
        elsif part ~ '^\s' then
            before := case before when ',' then ',' else 'blank' end;
        elsif part = ',' then
            before := ',';
        else
            found := found || jsonb_build_array(
                case
                    when part ~ '^"'
                    then jsonb_build_array(
                        regexp_replace(substr(part, 2, length(part) - 2), '\\(.)', '\1', 'g'), true
                    )
                    else jsonb_build_array(part, false)
                end
            );
            before := 'value';
        end if;
        start := start + length(part);
    end loop;
    if before = ',' then
        perform pgrag._query_error(
            start, 'a value is missing here.',
            'Write tags:a,b or tags:(a b), without blanks after the colon and between commas.'
        );
    end if;
    return found;
end;
$$;
