-- The SQL function that computes a page query function; checks its name and number of arguments.
create or replace function _pgrag.page_query_function(
    node jsonb
)
returns text
language plpgsql
stable
parallel unsafe
as $$
declare
    name text := node ->> 'call';
    count integer := jsonb_array_length(node -> 'of');
    pattern jsonb := node -> 'of' -> 0;
    known record;
begin
    select
        string_agg(n, ', ' order by n) as names,
        max(f.computed_by) filter (where n = name) as computed_by,
        max(f.fewest) filter (where n = name) as fewest,
        max(f.most) filter (where n = name) as most
    into known
    from (
        values
            ('_pgrag.page_value_contains', 2, 2, '{contains,icontains,econtains}'::text[]),
            ('_pgrag.page_text_function', 1, 1,
                '{lower,upper,number,string,floor,ceil,trunc,date,dur,striptime}'),
            ('_pgrag.page_text_function', 1, 2, '{round}'),
            ('_pgrag.page_text_function', 2, 2,
                '{startswith,endswith,containsword,split,regextest,regexmatch}'),
            ('_pgrag.page_text_function', 2, 3, '{substring}'),
            ('_pgrag.page_text_function', 3, 3, '{replace,regexreplace}'),
            ('_pgrag.page_list_function', 0, 10000, '{list,array}'),
            ('_pgrag.page_list_function', 1, 1, '{length,typeof,nonnull,reverse,sort,unique,flat}'),
            ('_pgrag.page_list_function', 1, 2, '{link,join}'),
            ('_pgrag.page_list_function', 1, 100, '{min,max,sum,average,all,any,none}'),
            ('_pgrag.page_list_function', 2, 2, '{default}'),
            ('_pgrag.page_list_function', 3, 3, '{choice}')
    ) as f (computed_by, fewest, most, names)
    cross join unnest(f.names) as n;
    if known.computed_by is null then
        perform _pgrag.page_query_error(
            node, 'there is no function ' || quote_literal(name), 'There are ' || known.names || '.'
        );
    elsif count not between known.fewest and known.most then
        perform _pgrag.page_query_error(
            node,
            format(
                '%s takes %s %s, got %s',
                name,
                concat_ws(' to ', nullif(known.fewest, known.most), known.most),
                case known.most when 1 then 'value' else 'values' end,
                count
            )
        );
    elsif name in ('regextest', 'regexmatch') and not _pgrag.is_pattern(pattern ->> 'value') then
        perform _pgrag.page_query_error(
            pattern, 'this is not a regular expression',
            'It is one of PostgreSQL; a backslash is written once: "\d+".'
        );
    end if;
    return known.computed_by;
end;
$$;
