-- What of a list of hits a reader gets for a budget, and what stands beside the best: one rule for
-- contexts, answers and agents.
create or replace function pgrag.pack_passages(
    document_ids anycompatiblearray,
    token_budget integer default 4000,
    expand boolean default true,
    exclude text[] default null
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 20
set search_path from current
as $$
declare
    given_ids constant bigint[] := _pgrag.passage_ids(pack_passages.document_ids::text[]);
    passages pgrag.passage[];
    unwanted bigint[] := '{}';
    fits boolean[];
begin
    perform _pgrag.check_range('token_budget', token_budget, 1, 1000000);
    perform _pgrag.check_given('expand', expand);
    passages := array(
        select p
        from (
            select g.document_id, min(g.nth) as nth
            from unnest(given_ids) with ordinality as g (document_id, nth)
            group by g.document_id
        ) as h
        -- For its error of an unknown id.
        cross join lateral _pgrag.document(h.document_id) as d
        cross join lateral _pgrag.passage(
            d.library_id, d.document_id, 'hit', null, 1.0 / h.nth
        ) as p
        order by h.nth
    );
    if expand then
        if exclude <> '{}' then
            unwanted := _pgrag.excluded_documents(
                exclude,
                array(
                    select distinct d.version_id
                    from unnest(given_ids) as g (document_id)
                    cross join lateral _pgrag.document(g.document_id) as d
                )
            );
        end if;
        passages := passages || array(
            select b
            from _pgrag.beside(given_ids[:2], given_ids) as b
            where b.document_id <> all (unwanted)
        );
    end if;
    fits := _pgrag.affordable(
        passages,
        array(
            select _pgrag.passage_size(p.content, 26)
            from unnest(passages) with ordinality as p
            order by p.ordinality
        ),
        token_budget,
        -- Whoever reads a list can read on.
        share_beside => 0.35
    );
    return query
    select
        u.document_id, u.page_id, u.library, u.version, u.url, u.title, u.path, u.content, u.score,
        u.relation, u.distance, u.key, u.level, u.heading, u.heading_level, u.depth, u.position,
        u.root_section, u.anchor, u.types, u.sort_order, u.overlap, u.line_start, u.line_end
    from (
        select p.*, max(p.score) over (partition by p.page_id) as page_score
        from unnest(passages) with ordinality as p
        where fits[p.ordinality]
    ) as u
    order by u.page_score desc, u.page_id, u.sort_order;
end;
$$;

comment on function pgrag.pack_passages is
'What fits of hits into token_budget (a token is counted as 4 bytes of UTF-8, with 26 for the
heading and the quotation of each passage), in reading order: the passages document_ids, best first,
without those that are too large, and with expand, for at most 0.35 of the budget, the paragraphs
that stand beside the first two on their pages, without those that exclude names (as in search). The
first passage always fits. relation: hit or expansion; score: 1 / position of a hit, 0.1 of another
passage; distance: how far a passage is from the nearest of the two hits. Errors: PGR01, PGR05.';

-- The paragraphs beside hits on their pages, without those given: of each page at most so many, the
-- nearest, hits included.
create or replace function _pgrag.beside(
    hit_ids bigint[],
    given_ids bigint[],
    most_of_page integer default null
)
returns setof pgrag.passage
language sql
stable
parallel safe
rows 10
as $$
    select p.*
    from (
        select
            n.library_id, n.document_id, min(n.distance) as distance,
            row_number() over (
                partition by n.page_id order by min(n.distance), n.sort_order
            ) as nearness
        from unnest(beside.hit_ids) as h (document_id)
        cross join lateral (
            select stored.library_id, stored.page_id, stored.sort_order
            from pgrag.documents as stored
            where stored.library_id = h.document_id >> 33 and stored.document_id = h.document_id
            offset 0
        ) as hit
        cross join lateral (
            select
                d.library_id, d.document_id, d.page_id, d.sort_order,
                abs(d.sort_order - hit.sort_order) as distance
            from pgrag.documents as d
            where d.library_id = hit.library_id
                and d.page_id = hit.page_id
                and d.sort_order between hit.sort_order - _pgrag.reach_beside()
                    and hit.sort_order + _pgrag.reach_beside()
                and d.level = 2
            offset 0
        ) as n
        group by n.library_id, n.document_id, n.page_id, n.sort_order
    ) as near
    cross join lateral _pgrag.passage(
        near.library_id, near.document_id, 'expansion', near.distance, 0.1
    ) as p
    where near.document_id <> all (beside.given_ids)
        and (near.nearness > beside.most_of_page) is not true;
$$;

-- The tokens of a passage with so many for its heading and the tags of its quotation.
create or replace function _pgrag.passage_size(
    content text,
    around integer
)
returns integer
language sql
immutable
parallel safe
as $$
    select ceil(octet_length(passage_size.content) / 4.0)::integer + passage_size.around;
$$;
