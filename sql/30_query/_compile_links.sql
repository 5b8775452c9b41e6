-- Links to a note, by its file name, whatever folder they write before it: [[note]],
-- [[note|words]], ![[note#heading]], [words](folder/note.md#heading), [words](<my note.md>),
-- [words](my%20note).
create or replace function pgrag._compile_links(
    expression text,
    note text
)
returns text
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    name text := regexp_replace(btrim(note, E' \t\n[]'), '\.(md|mdx|markdown)$', '', 'i');
    wiki text := regexp_replace(name, '([][\\^$.|?*+(){}#-])', '\\\1', 'g');
begin
    if name !~ '\w' then
        raise exception 'The filter field "links" needs the name of a note, got %.',
            quote_nullable(note)
            using errcode = 'PGR06', hint = 'For example {"links": "Getting started"}.';
    end if;
    return format(
        -- Most texts lack the name, and are passed over without a look for links.
        '(%1$s ~* %2$L and %1$s ~* %3$L)',
        expression,
        replace(wiki, ' ', '( |%20)'),
        format(
            '\[\[([^][|#]*/)?%1$s(\.md)?\s*(\\?[|#^][^][]*)?\]\]'
            '|\]\(\s*(<[^<>]*/|<|[^\s()<>#]*/)?%2$s(\.(mdx?|markdown|html?))?/?'
            '([?#][^\s()<>]*)?'
            '(>|\s+["''(][^()]*)?\s*\)',
            wiki, replace(wiki, ' ', '( |%20)')
        )
    );
end;
$$;
