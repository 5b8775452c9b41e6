-- What FROM names: #tag, "folder" or "folder/note", [[note]] (what links to it),
-- outgoing([[note]]) (what it links to), joined by and, or, - and parentheses.
create or replace function pgrag._page_query_source(
    tokens jsonb,
    minimum integer,
    depth integer,
    inout place integer,
    out node jsonb
)
returns record
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    token jsonb := tokens -> place;
    kind text := token ->> 'kind';
    word text := lower(token ->> 'text');
    found record;
    operator text;
begin
    if depth > 40 then
        perform pgrag._page_query_error(
            (token ->> 'at')::integer, 'this is nested too deeply.', null
        );
    end if;
    if kind = 'sign' and word in ('-', '!') or kind = 'word' and word = 'not' then
        found := pgrag._page_query_source(tokens, 3, depth + 1, place + 1);
        place := found.place;
        node := jsonb_build_object(
            'node', 'not', 'of', jsonb_build_array(found.node), 'at', token -> 'at'
        );
    elsif kind = 'sign' and word = '(' then
        found := pgrag._page_query_source(tokens, 1, depth + 1, place + 1);
        place := pgrag._page_query_closed(tokens, found.place, ')', token);
        node := jsonb_build_object(
            'node', 'group', 'of', jsonb_build_array(found.node), 'at', token -> 'at'
        );
    elsif kind = 'word' and word = 'outgoing' and tokens -> place + 1 ->> 'text' = '('
        and tokens -> place + 2 ->> 'kind' = 'link'
    then
        node := jsonb_build_object(
            'node', 'outgoing', 'name', tokens -> place + 2 -> 'text', 'at', token -> 'at'
        );
        place := pgrag._page_query_closed(tokens, place + 3, ')', tokens -> place + 1);
    elsif kind = 'tag' then
        node := jsonb_build_object(
            'node', 'tag', 'name', substr(token ->> 'text', 2), 'at', token -> 'at'
        );
        place := place + 1;
    elsif kind = 'link' then
        node := jsonb_build_object(
            'node', 'incoming', 'name', token -> 'text', 'at', token -> 'at'
        );
        place := place + 1;
    elsif kind = 'text' then
        node := jsonb_build_object(
            'node', 'folder', 'name', pgrag._page_query_literal(token) ->> 'value',
            'at', token -> 'at'
        );
        place := place + 1;
    else
        perform pgrag._page_query_expected(
            token, '#tag, "folder", [[note]] or outgoing([[note]])',
            case
                when kind = 'word' and word = 'outgoing' then 'Write outgoing([[note]]).'
                when kind = 'word' then 'Folders stand in double quotes: FROM "guide".'
            end
        );
    end if;

    loop
        token := tokens -> place;
        operator := case
            when token ->> 'kind' not in ('word', 'sign') then null
            when lower(token ->> 'text') in ('and', '&') then 'and'
            when lower(token ->> 'text') in ('or', '|') then 'or'
        end;
        exit when operator is null or minimum > case operator when 'or' then 1 else 2 end;
        found := pgrag._page_query_source(
            tokens, case operator when 'or' then 2 else 3 end, depth + 1, place + 1
        );
        place := found.place;
        node := case
            when node ->> 'node' = operator
            then jsonb_set(node, '{of}', (node -> 'of') || jsonb_build_array(found.node))
            else jsonb_build_object(
                'node', operator, 'of', jsonb_build_array(node, found.node), 'at', token -> 'at'
            )
        end;
    end loop;
end;
$$;
