-- Finds the target of a fragment on its page: a heading, by its anchor or by its words as in
-- Obsidian (A#B is B below A), the block ^id, or an element with this id: in HTML, in JSX
-- (titleId), {#id}, {/*id*/}, or MyST's (id)=. An element leads to the passage of its line; alone
-- on a line, to the passage below.
create or replace function _pgrag.find_fragments(
    library_id bigint,
    page_ids bigint[],
    fragments text[]
)
returns table (
    page_id bigint,
    fragment text,
    document_id bigint,
    is_found boolean
)
language sql
stable
parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with asked as materialized (
        select
            a.page_id,
            a.fragment,
            lower(w.written) as anchor,
            regexp_replace(w.written, '^.*#', '') as last_part,
            _pgrag.heading_words(regexp_replace(w.written, '^.*#', '')) as words,
            case
                when w.written like '%#%'
                then array(
                    select _pgrag.heading_words(part)
                    from unnest(
                        string_to_array(regexp_replace(w.written, '#[^#]*$', ''), '#')
                    ) as part
                    where part <> ''
                )
            end as above
        from unnest(find_fragments.page_ids, find_fragments.fragments) as a (page_id, fragment)
        cross join lateral (
            select btrim(
                case
                    when strpos(a.fragment, '%') > 0 then _pgrag.percent_decoded(a.fragment)
                    else a.fragment
                end,
                '# '
            ) as written
            offset 0
        ) as w
    ),
    headings as materialized (
        select
            d.page_id,
            d.document_id,
            d.anchor,
            d.path,
            d.level,
            d.sort_order,
            -- The heading of a whole page is its title, the last part of its path.
            _pgrag.heading_words(
                case when d.level = 0 then d.path[cardinality(d.path)] else d.heading end
            ) as words
        from (select distinct a.page_id from asked as a) as a
        cross join lateral (
            select d.*
            from pgrag.documents as d
            where d.library_id = find_fragments.library_id
                and d.page_id = a.page_id
                and (d.anchor <> '' or d.level = 0)
            offset 0
        ) as d
    ),
    sections as materialized (
        select distinct on (a.page_id, a.fragment) a.page_id, a.fragment, h.document_id
        from asked as a
        join headings as h
            on h.page_id = a.page_id
            and (lower(h.anchor) = a.anchor or h.words = a.words)
        where a.above is null
            or a.above <@ array(select _pgrag.heading_words(part) from unnest(h.path) as part)
        order by
            a.page_id,
            a.fragment,
            lower(h.anchor) = a.anchor desc,
            array_position('{1, 2, 0}', h.level::integer),
            h.sort_order
    ),
    elements as (
        select
            a.page_id,
            a.fragment,
            a.last_part,
            case
                when left(a.last_part, 1) = '^'
                then '\^' || _pgrag.as_pattern(substr(a.last_part, 2)) || '(?![\w-])'
                else replace(
                    '\m(\w*id|name)\s*=\s*["'']?@(?![\w-])|\{[^{}\n]*#@(?![\w.:-])[^{}\n]*\}'
                    '|\{/\*\s*@\s*\*/\}|\(@\)=',
                    '@', _pgrag.as_pattern(a.last_part)
                )
            end as pattern
        from asked as a
        where a.last_part not in ('', '^')
            and not exists (
                select
                from sections as s
                where s.page_id = a.page_id and s.fragment = a.fragment
            )
    ),
    found as (
        select s.page_id, s.fragment, s.document_id
        from sections as s
        union all
        select e.page_id, e.fragment, d.document_id
        from elements as e
        cross join lateral (
            select
                1 + regexp_count(
                    p.head || left(p.body, m.position - 1)
                    || coalesce(substring(substr(p.body, m.position) from m.own_line), ''),
                    '\n'
                ) as line
            from pgrag.pages as p
            cross join lateral (
                -- A fast substring test that rules out most pages before the regular expression.
                select
                    case
                        when strpos(lower(p.body), lower(e.last_part)) > 0
                        then regexp_instr(p.body, e.pattern, 1, 1, 0, 'i')
                        else 0
                    end as position,
                    -- the rest of a line without words, and the empty lines below it
                    '^[^\n>]*(?:>|\)=|\})?(?:\s*</?\w[^<>\n]*>)*[ \t]*\n\s*' as own_line
            ) as m
            where p.library_id = find_fragments.library_id
                and p.page_id = e.page_id
                and m.position > 0
            offset 0
        ) as p
        left join lateral (
            -- The last that begins at the line or above; of a section and its first paragraph the
            -- paragraph, but for the heading's own line the section.
            select d.document_id
            from pgrag.documents as d
            cross join lateral (
                select coalesce(p.line between d.line_start and d.line_end, false) as has_line
            ) as c
            where d.library_id = find_fragments.library_id
                and d.page_id = e.page_id
                and d.level > 0
                and (c.has_line or d.content ~* e.pattern)
            order by
                c.has_line desc,
                case when c.has_line then d.line_start end desc,
                case when d.line_start = p.line then d.level else -d.level end,
                d.sort_order
            limit 1
        ) as d on true
    )
    select
        a.page_id,
        a.fragment,
        f.document_id,
        f.page_id is not null or a.anchor in ('', 'top')
    from asked as a
    left join found as f on f.page_id = a.page_id and f.fragment = a.fragment;
$$;

create or replace function _pgrag.heading_words(
    heading text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.btrim(
        pg_catalog.regexp_replace(
            pg_catalog.lower(pg_catalog.normalize(heading_words.heading, 'NFC')),
            '[^[:alnum:]]+', ' ', 'g'
        )
    );
$$;

create or replace function _pgrag.as_pattern(
    literal text
)
returns text
language sql
immutable
parallel safe
as $$
    select pg_catalog.regexp_replace(
        pg_catalog.left(as_pattern.literal, 200), '([^[:alnum:] ])', '\\\1', 'g'
    );
$$;
