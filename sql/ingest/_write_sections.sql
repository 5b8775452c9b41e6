-- The own text of each section, by hash: the lines between its heading and the next one. The text
-- before the first heading belongs to the page. Passages do not serve: one may hold the end of a
-- section and the next, and models rewrite them.
create or replace function _pgrag.write_sections(
    library_id bigint,
    page_ids bigint[]
)
returns void
language sql
volatile
-- The planner would join each section with all pages of the call, one by one.
set enable_nestloop = off
set jit = off
as $$
    delete from pgrag.section_texts as t
    where t.library_id = write_sections.library_id and t.page_id = any (write_sections.page_ids);

    with sources as materialized (
        select
            p.page_id, p.path,
            greatest(cardinality(string_to_array(p.head, E'\n')), 1) as first_line
        from pgrag.pages as p
        where p.library_id = write_sections.library_id and p.page_id = any (write_sections.page_ids)
    ),
    sections as (
        select
            d.page_id, d.document_id, d.version_id, d.level,
            d.path[cardinality(s.path) + 1:] as headings,
            case when d.level = 1 then d.line_start + 1 else s.first_line end as line_start,
            coalesce(
                lead(d.line_start) over (partition by d.page_id order by d.sort_order) - 1,
                d.line_end
            ) as line_end,
            -- A single heading of level 1 is the title, which may differ from the front matter's.
            case
                when count(*) filter (where d.level = 1 and d.heading_level = 1)
                    over (partition by d.page_id) = 1
                then min(d.heading) filter (where d.level = 1 and d.heading_level = 1)
                    over (partition by d.page_id)
            end as title
        from sources as s
        join pgrag.documents as d on d.page_id = s.page_id
        -- Without lines, the text of a section is unknown.
        where d.library_id = write_sections.library_id
            -- Without nested loops, this alone keeps the join from reading every passage.
            and d.page_id = any (write_sections.page_ids)
            and d.level < 2
            and d.line_end > 0
    ),
    -- Where each line begins, in bytes, because PostgreSQL counts lines and characters from the
    -- beginning of the page. Materialized, like the texts, so that no sort holds a page.
    page_lines as materialized (
        select
            p.page_id, convert_to(p.head || p.body, 'UTF8') as source,
            array[1] || array(
                select
                    1 + sum(octet_length(l.line) + 1) over (
                        order by l.nth
                        rows unbounded preceding
                    )::integer
                from string_to_table(p.head || p.body, E'\n') with ordinality as l (line, nth)
                order by l.nth
            ) as starts
        from pgrag.pages as p
        where p.library_id = write_sections.library_id and p.page_id = any (write_sections.page_ids)
    ),
    texts as materialized (
        select
            s.page_id, s.document_id, s.version_id, s.level, s.line_start, s.line_end,
            case when s.headings[1] = s.title then s.headings[2:] else s.headings end
                as own_headings,
            pgrag.text_hash(
                nullif(
                    btrim(
                        convert_from(
                            substring(
                                l.source
                                from l.starts[s.line_start]
                                for greatest(
                                    l.starts[least(s.line_end + 1, cardinality(l.starts))]
                                        - 1 - l.starts[s.line_start],
                                    0
                                )
                            ),
                            'UTF8'
                        ),
                        E' \t\r\n'
                    ),
                    ''
                )
            ) as text_hash
        from sections as s
        join page_lines as l on l.page_id = s.page_id
    )
    insert into pgrag.section_texts (
        library_id, page_id, document_id, version_id, headings, occurrence, line_start, line_end,
        text_hash
    )
    select
        write_sections.library_id, t.page_id, t.document_id, t.version_id, t.own_headings,
        row_number() over (
            partition by t.page_id, t.own_headings
            order by t.text_hash is null, t.line_start, t.level
        ),
        t.line_start, t.line_end, t.text_hash
    from texts as t;
$$;
