-- What snippets mark, for whoever shows a page in a form of its own.
create or replace function pgrag.matched_words(
    page_id anycompatible,
    query text,
    prefix boolean default false,
    line_start integer default null,
    line_end integer default null
)
returns table (
    word text
)
language plpgsql
stable
parallel unsafe
rows 10
set search_path from current
as $$
declare
    here pgrag.pages := _pgrag.page(pgrag.page_id(matched_words.page_id::text));
    words constant text := (pgrag.parse_query(query)).words;
    request _pgrag.search_request;
    content text := here.body;
begin
    if words !~ '\S' then
        return;
    end if;
    request := _pgrag.make_request(
        words,
        (
            select jsonb_build_object(
                'library', l.name, 'version', v.label, 'mode', 'keyword',
                'prefix', coalesce(matched_words.prefix, false)
            )
            from pgrag.libraries as l
            join pgrag.versions as v on v.library_id = l.library_id
            where l.library_id = here.library_id and v.version_id = here.version_id
        ),
        needs_words => false
    );
    if line_start is not null or line_end is not null then
        content := array_to_string(
            (string_to_array(here.head || here.body, E'\n'))
                [coalesce(greatest(line_start, 1), 1):coalesce(line_end, 2147483647)],
            E'\n'
        );
    end if;
    return query
    select distinct m.part[1]
    from regexp_matches(
        _pgrag.snippet(here.language, content, request, is_whole => true), '\*\*(.+?)\*\*', 'g'
    ) as m (part)
    order by 1;
end;
$$;

comment on function pgrag.matched_words is
'The words of a page that a query matches, each form as it is written there and once: what snippets
mark. prefix: the last word of the query is also the beginning of words. line_start, line_end: only
in these lines of the source. No row for a query that only filters. Errors: PGR01, PGR04.';
