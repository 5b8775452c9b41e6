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
            a.page_id, a.fragment, lower(w.written) as anchor,
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
            d.page_id, d.document_id, lower(d.anchor) as anchor, d.words,
            case
                when d.is_asked_below
                then array(select _pgrag.heading_words(part) from unnest(d.path) as part)
            end as path_words,
            row_number() over (
                partition by d.page_id, lower(d.anchor)
                order by d.precedence, d.sort_order
            ) as nth_of_anchor,
            row_number() over (
                partition by d.page_id, d.words
                order by d.precedence, d.sort_order
            ) as nth_of_words
        from (
            select
                d.*, a.is_asked_below, array_position('{1, 2, 0}', d.level::integer) as precedence,
                -- The heading of a whole page is its title, the last part of its path.
                _pgrag.heading_words(
                    case when d.level = 0 then d.path[cardinality(d.path)] else d.heading end
                ) as words
            from (
                select a.page_id, bool_or(a.above is not null) as is_asked_below
                from asked as a
                group by a.page_id
            ) as a
            cross join lateral (
                select d.*
                from pgrag.documents as d
                where d.library_id = find_fragments.library_id
                    and d.page_id = a.page_id
                    and (d.anchor <> '' or d.level = 0)
                offset 0
            ) as d
        ) as d
    ),
    -- One join per way, each by equal keys: a page may have as many headings as fragments.
    sections as materialized (
        select distinct on (s.page_id, s.fragment) s.page_id, s.fragment, s.document_id
        from (
            select a.page_id, a.fragment, h.document_id, 1 as way, 1 as nth
            from asked as a
            join headings as h
                on h.page_id = a.page_id and h.anchor = a.anchor and h.nth_of_anchor = 1
            where a.above is null
            union all
            select a.page_id, a.fragment, h.document_id, 2, h.nth_of_words
            from asked as a
            join headings as h
                on h.page_id = a.page_id
                and h.words = a.words
                -- Every heading of these words is compared, within reason.
                and h.nth_of_words <= case when a.above is null then 1 else 1000 end
            where a.above is null or a.above <@ h.path_words
        ) as s
        order by s.page_id, s.fragment, s.way, s.nth
    ),
    elements as materialized (
        select a.page_id, a.fragment, lower(a.last_part) as id
        from asked as a
        where a.last_part not in ('', '^')
            and not exists (
                select from sections as s
                where s.page_id = a.page_id and s.fragment = a.fragment
            )
    ),
    inside as (
        select f.*
        from (
            select array_agg(e.page_id) as page_ids, array_agg(e.id) as ids
            from (select distinct e.page_id, e.id from elements as e) as e
        ) as e
        cross join lateral _pgrag.find_elements(find_fragments.library_id, e.page_ids, e.ids) as f
    )
    select
        a.page_id, a.fragment, coalesce(s.document_id, i.document_id),
        coalesce(s.page_id, i.page_id) is not null or a.anchor in ('', 'top')
    from asked as a
    left join sections as s on s.page_id = a.page_id and s.fragment = a.fragment
    left join elements as e on e.page_id = a.page_id and e.fragment = a.fragment
    left join inside as i on i.page_id = e.page_id and i.id = e.id;
$$;

-- The passages of elements and blocks with these ids, each once; no row for one that is missing.
create or replace function _pgrag.find_elements(
    library_id bigint,
    page_ids bigint[],
    ids text[]
)
returns table (
    page_id bigint,
    id text,
    document_id bigint
)
language sql
stable
parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with asked as materialized (
        select a.page_id, a.id
        from unnest(find_elements.page_ids, find_elements.ids) as a (page_id, id)
    ),
    searched as (
        select p.page_id, p.body, regexp_count(p.head, '\n') as lines_above
        from (select distinct a.page_id from asked as a) as a
        cross join lateral (
            select p.*
            from pgrag.pages as p
            where p.library_id = find_elements.library_id and p.page_id = a.page_id
            offset 0
        ) as p
    ),
    lines as materialized (
        select
            l.page_id, l.line, l.text, l.has_words,
            -- The next line with words; in reverse order, so that each row adds one to the frame.
            min(l.line) filter (where l.has_words) over (
                partition by l.page_id
                order by l.line desc
                rows unbounded preceding
            ) as next_line
        from (
            select
                s.page_id, s.lines_above + l.nth::integer as line, l.text,
                case
                    when l.text ~ '[<{]|\)='
                    then regexp_replace(l.text, '</?\w[^<>]*>|\{[^{}]*\}|\([^()]*\)=', '', 'g')
                    else l.text
                end ~ '\S' as has_words
            from searched as s
            cross join lateral string_to_table(s.body, E'\n') with ordinality as l (text, nth)
        ) as l
    ),
    ids as materialized (
        select i.page_id, i.id, min(i.line) as line
        from (
            select
                l.page_id, e.id,
                case when l.has_words then l.line else coalesce(l.next_line, l.line) end as line
            from lines as l
            cross join lateral _pgrag.element_ids(l.text) as e (id)
        ) as i
        join asked as a on a.page_id = i.page_id and a.id = i.id
        group by i.page_id, i.id
    ),
    passages as materialized (
        select
            d.page_id, d.document_id, d.level, d.content, d.sort_order, d.line_start,
            -- A section holds the lines up to the next one.
            case
                when d.level = 1
                then coalesce(
                    lead(d.line_start) over (partition by d.page_id, d.level order by d.sort_order)
                        - 1,
                    d.line_end
                )
                else d.line_end
            end as line_end
        from (select distinct i.page_id from ids as i) as i
        cross join lateral (
            select d.*
            from pgrag.documents as d
            where d.library_id = find_elements.library_id
                and d.page_id = i.page_id
                and d.level > 0
            offset 0
        ) as d
    ),
    lined as materialized (
        -- The last that begins at the line or above; of a section and its first paragraph the
        -- paragraph, but for the heading's own line the section.
        select distinct on (p.page_id, l.line) p.page_id, l.line, p.document_id
        from passages as p
        cross join lateral generate_series(
            greatest(p.line_start, 1),
            least(p.line_end, (select max(o.line) from lines as o))
        ) as l (line)
        order by
            p.page_id, l.line, p.line_start desc,
            case when p.line_start = l.line then p.level else -p.level end,
            p.sort_order
    ),
    -- Passages without lines.
    unlined as materialized (
        select distinct on (p.page_id, e.id) p.page_id, e.id, p.document_id
        from passages as p
        cross join lateral _pgrag.element_ids(p.content) as e (id)
        where p.line_end = 0
        order by p.page_id, e.id, p.level desc, p.sort_order
    )
    select i.page_id, i.id, coalesce(l.document_id, u.document_id)
    from ids as i
    left join lined as l on l.page_id = i.page_id and l.line = i.line
    left join unlined as u on u.page_id = i.page_id and u.id = i.id;
$$;

-- The ids that a text gives to its elements and blocks, in lower case.
create or replace function _pgrag.element_ids(
    input text
)
returns setof text
language sql
immutable
parallel safe
as $$
    select distinct
        pg_catalog.lower(
            coalesce('^' || e.parts[7], pg_catalog.btrim(pg_catalog.array_to_string(e.parts, '')))
        )
    from pg_catalog.regexp_matches(
        element_ids.input,
        '\m(?:\w*id|name)\s*=\s*(?:"([^"\n]*)"|''([^''\n]*)''|([^\s"''<>]+))'
        '|\{[^{}#\n]*#([\w.:-]+)[^{}\n]*\}|\{/\*([^*\n]*)\*/\}|\(([^()\n]*)\)='
        '|\^([\w-]+)', 'gi'
    ) as e (parts)
    where element_ids.input ~ '[=^{]';
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
