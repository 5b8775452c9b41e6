-- One field:value of a query as a filter; null if the name is an everyday word and the value does
-- not look like a value of the field (key:value, position:absolute, level:info).
create or replace function _pgrag.query_filter(
    part text,
    start integer
)
returns jsonb
language plpgsql
immutable
parallel safe
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
    from _pgrag.query_fields() as f
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
        perform _pgrag.query_error(
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

    filter := _pgrag.query_condition(field, kind, operator, value, start);
    if operator = '!=' then
        filter := jsonb_build_object('not', filter);
    end if;
    if kind <> 'scope' then
        begin
            perform pgrag.filter_predicate(filter);
        exception
            when sqlstate 'PGR06' then
                get stacked diagnostics message = message_text, way_out = pg_exception_hint;
                perform _pgrag.query_error(start, message, nullif(way_out, ''));
        end;
    end if;
    return filter;
end;
$$;

-- The fields of filters: the name in a query, the name in filter_predicate, the kind, the column
-- (null for aliases that only queries have), and, for names that also occur before a colon in
-- everyday text, the pattern that a value must match.
create or replace function _pgrag.query_fields()
returns table (
    name text,
    field text,
    kind text,
    expression text,
    shape text
)
language sql
immutable
parallel safe
as $$
    values
        ('key', 'key', 'text', 'p.key', '["*/.]'),
        ('url', 'url', 'text', 'p.url', '["*/.]'),
        ('page', 'page', 'page', 'p', '["*/.]'),
        ('title', 'title', 'text', 'p.title', null),
        ('topic', 'topic', 'text', 'p.topic', null),
        ('type', 'type', 'text', 'p.type', null),
        ('language', 'language', 'language', 'p.language_code', null),
        ('lang', 'language', 'language', null, null),
        ('uuid', 'uuid', 'text', 'p.uuid', '^(=|!=)?(["(*]|[0-9a-fA-F-]{8})'),
        ('link', 'link', 'text', 'p.link', '["*/.]'),
        ('tags', 'tags', 'list', 'p.tags', null), ('tag', 'tags', 'list', null, null),
        ('path', 'path', 'path', 'p.path', null),
        ('created', 'created', 'time', 'p.created', null),
        ('date', 'created', 'time', 'p.created',
            '^[<>=!]*("|\d{4}(-|\.\.|$)|\d{1,2}\.\d{1,2}\.\d{4}|\.\.\d)'),
        ('before', 'created', 'time', null, '^"?(\d{4}(-|$)|\d{1,2}\.\d{1,2}\.\d{4})'),
        ('after', 'created', 'time', null, '^"?(\d{4}(-|$)|\d{1,2}\.\d{1,2}\.\d{4})'),
        ('modified', 'modified', 'time', 'p.modified', null),
        ('links', 'links', 'links', 'p', null),
        ('heading', 'heading', 'text', 'd.heading', null),
        ('root_section', 'root_section', 'text', 'd.root_section', null),
        ('section_path', 'section_path', 'path', 'd.path', null),
        ('section', 'section_path', 'path', null, null),
        ('depth', 'depth', 'number', 'd.depth', '^[<>=!]*["(.]*\d'),
        ('depth_min', 'depth_min', 'bound', 'd.depth', '^=?"?\d'),
        ('depth_max', 'depth_max', 'bound', 'd.depth', '^=?"?\d'),
        ('heading_level', 'heading_level', 'number', 'd.heading_level', '^[<>=!]*["(.]*\d'),
        ('level', 'level', 'number', 'd.level', '^[<>=!]*["(.]*\d'),
        ('types', 'types', 'list', 'd.types', null),
        ('content_tags', 'content_tags', 'list', 'd.content_tags', null),
        ('keywords', 'keywords', 'list', 'd.keywords', null),
        ('keyword', 'keywords', 'list', null, null),
        ('position', 'position', 'text', 'd.position',
            '^(=|!=)?["(]?(intro|middle|conclusion)\M'),
        ('library', 'library', 'scope', null, null), ('version', 'version', 'scope', null, null);
$$;
