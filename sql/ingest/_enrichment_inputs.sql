-- The inputs of a language model: to situate a paragraph, the beginning of its page and the
-- paragraph; to summarise a page or a section, the beginning of its text, each as long as the
-- library's enrichment_limits say. Inputs depend on these and the passages alone, so they are the
-- same before and after the passages are stored. Short texts are not worth a call.
create or replace function _pgrag.enrichment_inputs(
    documents pgrag.documents[]
)
returns table (
    document_id bigint,
    page_id bigint,
    kind text,
    path text[],
    page_text text,
    content text,
    input_hash uuid
)
language sql
stable
parallel safe
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with recursive limits as materialized (
        select s.*
        from pgrag.libraries as l
        cross join jsonb_to_record(
            _pgrag.effective_settings(l.settings) -> 'enrichment_limits'
        ) as s (minimum_length integer, page_input integer, summary_input integer)
        where l.library_id = (enrichment_inputs.documents[1]).library_id
    ),
    parts as (
        select
            s.document_id, s.page_id, s.parent_id, s.path, s.content, s.sort_order,
            case
                when s.level = 2 and s.covers > 0 and not s.is_summary then 'context'
                -- A row that covers the text itself is the page's only passage, not a summary.
                when s.level < 2 and s.covers > 0 and s.covers & 4 = 0 and s.is_summary
                then 'summary'
            end as kind,
            s.level = 0 as is_page,
            case
                when s.level = 1 then repeat('#', s.heading_level) || ' ' || s.heading
                when s.level = 2 then s.content
                else ''
            end as part
        from unnest(enrichment_inputs.documents) as s
    ),
    rows_of as materialized (
        select
            r.*,
            -- The last part that fits into the limit.
            last_value(r.nth) over (
                partition by r.page_id
                order by r.position
                range between current row and (select m.summary_input from limits as m) following
            ) as reach
        from (
            select
                p.*,
                row_number() over reading as nth,
                sum(length(p.part) + 2) over reading as position
            from parts as p
            window reading as (partition by p.page_id order by p.sort_order)
        ) as r
    ),
    pages as materialized (
        select t.page_id, t.page_text, pgrag.text_hash(t.page_text) as page_hash
        from (
            select
                r.page_id,
                left(
                    string_agg(r.part, E'\n\n' order by r.nth) filter (where r.part <> ''),
                    (select m.page_input from limits as m)
                ) as page_text
            from rows_of as r
            group by r.page_id
        ) as t
    ),
    -- Not "union all": a cycle of parents is a fault, but must not loop for ever.
    below (ancestor_id, nth) as (
        select r.parent_id, r.nth from rows_of as r where r.parent_id is not null
        union
        select r.parent_id, b.nth
        from below as b
        join rows_of as r on r.document_id = b.ancestor_id
        where r.parent_id is not null
    ),
    ends as (
        select b.ancestor_id, max(b.nth) as last_nth from below as b group by b.ancestor_id
    ),
    sections as (
        select
            r.document_id,
            left(
                string_agg(t.part, E'\n\n' order by t.nth),
                (select m.summary_input from limits as m)
            ) as content
        from rows_of as r
        left join ends as e on e.ancestor_id = r.document_id
        cross join lateral generate_series(
            r.nth + 1,
            case when r.is_page then r.reach + 1 else least(r.reach + 1, e.last_nth) end
        ) as held (nth)
        join rows_of as t on t.page_id = r.page_id and t.nth = held.nth
        where r.kind = 'summary' and t.part <> ''
        group by r.document_id
    ),
    inputs as (
        select
            r.document_id, r.page_id, r.kind, r.path, p.page_text,
            left(r.content, (select m.page_input from limits as m)) as content,
            p.page_hash
        from rows_of as r
        join pages as p on p.page_id = r.page_id
        where r.kind = 'context'
        union all
        select r.document_id, r.page_id, r.kind, r.path, '', s.content, null
        from rows_of as r
        join sections as s on s.document_id = r.document_id
    )
    select
        i.document_id, i.page_id, i.kind, i.path, i.page_text, i.content,
        pgrag.text_hash(
            concat(i.page_hash, pgrag.text_hash(array_to_string(i.path, ' / ')), i.content)
        )
    from inputs as i
    where length(i.content) >= (select m.minimum_length from limits as m);
$$;
