create or replace function pgrag.related_sections(
    document_ids anycompatiblearray,
    top_k integer default 5,
    query text default null,
    filters jsonb default null,
    exclude text[] default null
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 5
set search_path from current
-- A date without a time zone means the same day in every session.
set timezone = 'UTC'
as $$
declare
    predicate constant text := pgrag.filter_predicate(
        _pgrag.conjunction(
            related_sections.filters,
            (select q.filters from pgrag.parse_query(coalesce(related_sections.query, '')) as q)
        )
    );
    given_ids constant bigint[] := _pgrag.passage_ids(related_sections.document_ids::text[]);
    denied constant bigint[] := coalesce(
        _pgrag.excluded_documents(
            related_sections.exclude,
            array(select (_pgrag.document(g.id)).version_id from unnest(given_ids) as g (id))
        ),
        '{}'
    );
    section_ids bigint[];
    relations text[];
    scores double precision[];
begin
    perform _pgrag.check_range('top_k', related_sections.top_k, 1, 100);
    with given as materialized (
        select d.library_id, d.page_id, d.document_id, s.section_id
        from unnest(given_ids) as g (document_id)
        cross join lateral _pgrag.document(g.document_id) as d
        cross join lateral _pgrag.section_of(d.library_id, d.document_id) as s (section_id)
    ),
    candidates as (
        select g.library_id, s.section_id, 'link' as relation, e.confidence as weight
        from given as g
        join pgrag.edges as e
            on e.library_id = g.library_id
            and e.source_page_id = g.page_id
            and e.source_document_id = g.document_id
        cross join lateral _pgrag.section_of(
            g.library_id,
            coalesce(e.target_document_id, _pgrag.page_document(g.library_id, e.target_page_id))
        ) as s (section_id)
        where e.target_page_id is not null
        union all
        select g.library_id, s.section_id, 'backlink', 0.5 * e.confidence
        from given as g
        join pgrag.edges as e
            on e.library_id = g.library_id
            and e.target_page_id = g.page_id
            and e.target_document_id in (g.document_id, g.section_id)
        cross join lateral _pgrag.section_of(g.library_id, e.source_document_id) as s (section_id)
        union all
        select g.library_id, below.document_id, 'child', 0.4
        from given as g
        join pgrag.documents as below
            on below.library_id = g.library_id
            and below.parent_id = g.section_id
            and below.level = 1
        union all
        select g.library_id, beside.section_id, beside.relation, 0.2
        from given as g
        cross join lateral (
            select a.previous_section, a.next_section
            from _pgrag.passages_in_place as a
            where a.library_id = g.library_id and a.document_id = g.document_id
            offset 0
        ) as a
        cross join lateral (
            values (a.previous_section, 'before'), (a.next_section, 'after')
        ) as beside (section_id, relation)
        where beside.section_id is not null
    ),
    scored as (
        select
            c.section_id,
            (array_agg(c.relation order by c.weight desc))[1] as relation,
            1 - 1 / (1 + sum(c.weight)) as score
        from candidates as c
        where c.section_id not in (select g.section_id from given as g)
            and c.section_id <> all (denied)
        group by c.section_id
    )
    select
        array_agg(s.section_id order by s.score desc, s.section_id),
        array_agg(s.relation order by s.score desc, s.section_id),
        array_agg(s.score order by s.score desc, s.section_id)
    into section_ids, relations, scores
    from scored as s;

    return query execute format(
        $sql$
        select r.*
        from unnest($1, $2, $3) with ordinality as s (document_id, relation, score, nth)
        cross join lateral _pgrag.document(s.document_id) as d
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        cross join lateral _pgrag.passage(
            d.library_id, d.document_id, s.relation, null, s.score
        ) as r
        where %s
        order by s.nth
        limit $4
        $sql$, predicate
    )
    using section_ids, relations, scores, related_sections.top_k;
end;
$$;

comment on function pgrag.related_sections is
'Sections to read after these passages, best first, except their own: relation link (linked from a
passage), backlink (with a link to a passage or its section), child (below a section), before and
after (beside it on the page). score is 1 - 1 / (1 + w), w the sum of what leads there: the
confidence of a link, half that of a backlink, 0.4 from above, 0.2 from beside. At most top_k. A
page without sections stands for itself. filters, those in query, and exclude hold as in
pgrag.search. Errors: PGR01, PGR05, PGR06.';

-- The section of a passage, or the page where there is none.
create or replace function _pgrag.section_of(
    library_id bigint,
    document_id bigint
)
returns bigint
language sql
stable
parallel safe
as $$
    select case d.level when 2 then coalesce(d.parent_id, d.document_id) else d.document_id end
    from pgrag.documents as d
    where d.library_id = section_of.library_id and d.document_id = section_of.document_id;
$$;
