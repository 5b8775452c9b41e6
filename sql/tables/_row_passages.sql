-- A text as passages of about 900 characters, never more than 1,200 outside a code block, in the
-- form of ingest_page, after a summary that stands for the page. Null if the text is one passage
-- anyway. With headings it is Markdown, and a passage does not cross a heading. The sizes are those
-- of pages from files; fragments below a heading of their own are not merged.
create or replace function _pgrag.row_passages(
    body text,
    title text,
    has_headings boolean
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    preferred constant integer := 900;
    most constant integer := 1200;
    line record;
    heading text[];
    -- The headings above, with their levels.
    headings text[] := '{}';
    levels integer[] := '{}';
    passage text := '';
    line_start integer;
    line_end integer;
    in_code boolean := false;
    passages jsonb[] := '{}';
begin
    if length(body) <= most and not (has_headings and body ~ '(^|\n) {0,3}#{1,6}\s') then
        return null;
    end if;
    for line in
        select l.nth::integer as number, p.part, false as is_end
        from regexp_split_to_table(body, '\r?\n') with ordinality as l (text, nth)
        cross join lateral _pgrag.cut_line(l.text, most) with ordinality as p (part, nth)
        union all
        select 0, '', true
    loop
        heading := case
            when has_headings and not in_code
            then regexp_match(line.part, '^ {0,3}(#{1,6})\s+(.*?)(\s+#+)?\s*$')
        end;
        if line.is_end
            or heading is not null
            or not in_code and (
                length(passage) >= preferred and btrim(line.part) = ''
                or length(passage) + length(line.part) >= most
            )
        then
            if btrim(passage, e' \t\n') <> '' then
                passages := passages || jsonb_build_object(
                    'level', 2, 'covers', 6, 'parent', 0, 'content', rtrim(passage, e' \n'),
                    'path', to_jsonb(array[title] || headings),
                    'heading', coalesce(headings[cardinality(headings)], ''),
                    'heading_level', coalesce(levels[cardinality(levels)], 0),
                    'depth', cardinality(headings), 'root_section', coalesce(headings[1], ''),
                    'line_start', line_start, 'line_end', line_end
                );
            end if;
            passage := '';
        end if;
        if heading is not null then
            while levels[cardinality(levels)] >= length(heading[1]) loop
                levels := trim_array(levels, 1);
                headings := trim_array(headings, 1);
            end loop;
            levels := levels || length(heading[1]);
            headings := headings || heading[2];
            continue;
        elsif has_headings and line.part ~ '^\s*(```|~~~)' then
            in_code := not in_code;
        end if;
        continue when passage = '' and btrim(line.part) = '';
        line_start := case when passage = '' then line.number else line_start end;
        line_end := line.number;
        passage := passage || line.part || e'\n';
    end loop;
    if cardinality(passages) = 0 then
        return null;
    elsif cardinality(passages) = 1 then
        return to_jsonb(array[passages[1] - 'parent' || '{"covers": 7}']);
    end if;
    return jsonb_build_object(
        'level', 0, 'covers', 1, 'is_summary', true, 'path', jsonb_build_array(title),
        'line_start', 1, 'content', left(passages[1] ->> 'content', 400)
    ) || to_jsonb(passages);
end;
$$;

-- A line in parts of at most this many characters, at the end of a sentence if there is one, else
-- between words.
create or replace function _pgrag.cut_line(
    line text,
    most integer
)
returns setof text
language plpgsql
immutable
parallel safe
as $$
declare
    rest text := line;
    -- The beginning of what is left: each cut of a whole long line would copy all of it.
    near text := '';
    head text;
    cut integer;
begin
    loop
        if length(near) <= most then
            near := near || left(rest, 50 * most);
            rest := substr(rest, 50 * most + 1);
        end if;
        exit when length(near) <= most;
        head := reverse(left(near, most));
        cut := coalesce(
            nullif(length(substring(head from '^.*?(?=\s[.!?…])')), 0),
            nullif(length(substring(head from '^\S*(?=\s)')), most),
            0
        );
        return next rtrim(left(near, most - cut));
        near := ltrim(substr(near, most - cut + 1));
    end loop;
    return next near;
end;
$$;
