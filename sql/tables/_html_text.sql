-- HTML of a column as Markdown with headings, lists and paragraphs. Not a parser: what a field of a
-- form holds, rather than whole documents, which pgrag index reads.
create or replace function _pgrag.html_text(
    html text
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    read text := html;
    element text;
    entity record;
begin
    read := regexp_replace(read, '<!--.*?-->', '', 'g');
    foreach element in array '{script, style, template, head, svg}'::text[] loop
        -- Each for itself: an alternative would be greedy.
        read := regexp_replace(
            read, format('<%s\y.*?</%s\s*>', element, element), '', 'gi'
        );
    end loop;
    for level in 1 .. 6 loop
        read := regexp_replace(
            read, format('<h%s\y[^>]*>\s*', level), e'\n\n' || repeat('#', level) || ' ', 'gi'
        );
    end loop;
    read := regexp_replace(read, '<li\y[^>]*>\s*', e'\n- ', 'gi');
    read := regexp_replace(read, '<br\y[^>]*>\s*|</tr\s*>', e'\n', 'gi');
    read := regexp_replace(read, '</t[dh]\s*>', ' ', 'gi');
    read := regexp_replace(
        read,
        '</?(?:p|div|h[1-6]|ul|ol|dl|dt|dd|table|section|article|header|footer|blockquote|pre|hr)\y'
            || '[^>]*>',
        e'\n\n', 'gi'
    );
    read := regexp_replace(read, '</?[a-z][^<>]*>', '', 'gi');
    for entity in
        select distinct m[1] as written, coalesce(
            (
                select n.shown
                from (
                    values
                        ('nbsp', ' '), ('lt', '<'), ('gt', '>'), ('quot', '"'), ('apos', ''''),
                        ('ndash', '–'), ('mdash', '—'), ('hellip', '…'), ('lsquo', '‘'),
                        ('rsquo', '’'), ('ldquo', '“'), ('rdquo', '”'), ('auml', 'ä'),
                        ('ouml', 'ö'), ('uuml', 'ü'), ('Auml', 'Ä'), ('Ouml', 'Ö'), ('Uuml', 'Ü'),
                        ('szlig', 'ß'), ('eacute', 'é'), ('egrave', 'è'), ('agrave', 'à'),
                        ('ccedil', 'ç'), ('ntilde', 'ñ'), ('euro', '€'), ('copy', '©')
                ) as n (name, shown)
                where n.name = m[2]
            ),
            case
                when x.number between 1 and 55295 or x.number between 57344 and 1114111
                then chr(x.number)
            end
        ) as shown
        from regexp_matches(
            read, '(&(?:([A-Za-z]+)|#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6}));)', 'g'
        ) as m
        cross join lateral (
            select coalesce(m[3]::integer, ('x' || lpad(m[4], 8, '0'))::bit(32)::integer) as number
        ) as x
    loop
        read := replace(read, entity.written, coalesce(entity.shown, entity.written));
    end loop;
    read := replace(read, '&amp;', '&');
    read := regexp_replace(read, '[ \t\r]+\n|\n[ \t]+', e'\n', 'g');
    return btrim(regexp_replace(read, '\n{3,}', e'\n\n', 'g'), e' \n');
end;
$$;
