-- Hits, injected passages, expansions, parents and neighbours as requested by the arguments of a
-- context, each passage once, with its most important relation. What stands beside the best hits is
-- always read; whole pages are expanded only if the hits leave a part of the budget.
create or replace function _pgrag.gather(
    request _pgrag.search_request,
    hits _pgrag.ranked_hit[],
    injected pgrag.passage[],
    arguments jsonb
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
as $$
#variable_conflict use_column
declare
    hit_ids constant bigint[] := array(select h.document_id from unnest(hits) as h);
    sibling_count constant integer := arguments ->> 'siblings';
    threshold constant double precision := coalesce(
        (arguments ->> 'expansion_threshold')::double precision, '-infinity'
    );
    -- Without a threshold the best page is expanded, unless nothing answers.
    is_expanded constant boolean := (arguments ->> 'expand')::boolean and (
        threshold > '-infinity'
        -- A reranker knows better.
        or request.reranked is not null
        or ((select max(h.confidence) from unnest(hits) as h) < _pgrag.no_answer()) is not true
    );
    page_count constant integer := arguments ->> 'max_documents_to_expand';
    chunk_count constant integer := arguments ->> 'max_chunks_per_document';
    gathered pgrag.passage[] := array(
        select p
        from unnest(hits) as h
        cross join lateral _pgrag.passage(
            h.library_id, h.document_id, 'hit', null, h.score
        ) as p
    );
begin
    if is_expanded then
        if (select sum(octet_length(g.content)) / 4 from unnest(gathered) as g)
            < (arguments ->> 'token_budget')::integer
        then
            gathered := gathered || array(
                select e
                from _pgrag.expanded_hits(
                    hit_ids,
                    array(select h.score from unnest(hits) as h),
                    array(select h.confidence from unnest(hits) as h),
                    threshold,
                    (arguments ->> 'expansion_share')::double precision,
                    page_count,
                    chunk_count,
                    with_hits => false
                ) as e
            );
        end if;
        if chunk_count > 0 then
            gathered := gathered || array(
                select b
                from _pgrag.beside(
                    array(
                        select h.document_id
                        from unnest(hits) as h
                        where h.score >= threshold
                        order by h.score desc, h.page_id, h.document_id
                        limit least(2, page_count)
                    ),
                    hit_ids,
                    chunk_count
                ) as b
            );
        end if;
    end if;
    gathered := injected || gathered;
    if sibling_count > 0 then
        gathered := gathered || array(
            select jsonb_populate_record(s, '{"relation": "sibling", "score": 0.1}')
            from unnest(hit_ids) as h (document_id)
            cross join lateral pgrag.siblings(h.document_id, sibling_count, sibling_count) as s
        );
    end if;
    if (arguments ->> 'parents')::boolean then
        gathered := gathered || array(
            select p from _pgrag.parents_beyond(hits, gathered) as p
        );
    end if;
    return query
    -- Each passage once, and each text: the same on several pages says nothing new.
    select distinct on (coalesce(t.content_hash, u.document_id)) u.*
    from (
        select distinct on (g.document_id) g.*
        from unnest(gathered) as g
        where g.document_id <> all (coalesce((request.target).denied_documents, '{}'))
        order by g.document_id, _pgrag.relation_rank(g.relation), g.score desc
    ) as u
    cross join lateral (
        select case
            -- What is left of a summary.
            when u.relation = 'parent' then _pgrag.content_hash(u.content)
            else (
                select i.content_hash
                from pgrag.impacts as i
                where i.library_id = u.document_id >> 33 and i.document_id = u.document_id
            )
        end as content_hash
    ) as t
    order by
        coalesce(t.content_hash, u.document_id),
        _pgrag.relation_rank(u.relation),
        u.score desc,
        u.document_id;
end;
$$;

create or replace function _pgrag.relation_rank(
    relation text
)
returns integer
language sql
immutable
parallel safe
as $$
    select array_position('{hit,injected,parent,sibling,expansion}'::text[], relation);
$$;

-- The passages that fit, without what they repeat: a summary keeps the sentences that neither the
-- paragraphs of its page nor the summaries before it say; without any it is left out.
create or replace function _pgrag.without_repetition(
    passages pgrag.passage[],
    fits boolean[]
)
returns pgrag.passage[]
language plpgsql
immutable
parallel safe
as $$
declare
    fitting constant pgrag.passage[] := array(
        select passages[p.ordinality]
        from unnest(passages) with ordinality as p
        where fits[p.ordinality]
        order by p.level = 2 desc, _pgrag.relation_rank(p.relation), p.page_id, p.sort_order
    );
    chosen pgrag.passage[] := '{}';
    page_ids bigint[] := '{}';
    words text[] := '{}';
    said text;
    passage pgrag.passage;
begin
    if not exists (select from unnest(fitting) as p where p.level < 2) then
        return fitting;
    end if;
    foreach passage in array fitting loop
        if passage.level < 2 then
            said := (
                select string_agg(u.words, '|')
                from unnest(page_ids, words) as u (page_id, words)
                where u.page_id = passage.page_id
            );
            if said is not null then
                passage.content := _pgrag.unsaid(passage.content, said);
                continue when passage.content is null;
            end if;
        end if;
        chosen := chosen || passage;
        page_ids := page_ids || passage.page_id;
        words := words || _pgrag.bare_words(passage.content);
    end loop;
    return chosen;
end;
$$;

-- The nearest passage above each hit whose summary has sentences that the gathered texts of its
-- page lack, reduced to these: the summary of a section of one paragraph is that paragraph. Each
-- passage is compared once: what it adds is then in the context.
create or replace function _pgrag.parents_beyond(
    hits _pgrag.ranked_hit[],
    passages pgrag.passage[]
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
as $$
declare
    hit _pgrag.ranked_hit;
    here pgrag.documents;
    above pgrag.passage;
    above_id bigint;
    asked bigint[] := '{}';
    page_ids bigint[];
    said text[];
    page_number integer;
begin
    select coalesce(array_agg(t.page_id), '{}'), coalesce(array_agg(t.words), '{}')
    into page_ids, said
    from (
        select p.page_id, string_agg(_pgrag.bare_words(p.content), '|') as words
        from unnest(passages) as p
        group by p.page_id
    ) as t;
    foreach hit in array hits loop
        here := _pgrag.document(hit.document_id);
        -- Only the parent of a page is on another page.
        above_id := _pgrag.parent_id(here);
        while above_id is not null loop
            if above_id <> all (asked) then
                asked := asked || above_id;
                select p.*
                into above
                from _pgrag.passage(here.library_id, above_id, 'parent', 1, hit.score) as p;
                page_number := coalesce(
                    array_position(page_ids, above.page_id), cardinality(page_ids) + 1
                );
                above.content := _pgrag.unsaid(above.content, said[page_number]);
                if above.content is not null then
                    page_ids[page_number] := above.page_id;
                    said[page_number] := concat_ws(
                        '|', said[page_number], _pgrag.bare_words(above.content)
                    );
                    return next above;
                    exit;
                end if;
            end if;
            above_id := (_pgrag.document(above_id)).parent_id;
        end loop;
    end loop;
end;
$$;

-- A summary without the sentences that occur in other texts, and without the items of its outline
-- of which nothing is left; null if only headings remain. A few words may be part of a heading and
-- are kept.
create or replace function _pgrag.unsaid(
    summary text,
    said text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when bool_or(k.words <> '' and (l.heading = '' or length(k.words) >= 20))
        then string_agg(
            case when k.words = '' then rtrim(l.heading, ': ') else l.heading || k.words end,
            E'\n' order by l.nth
        )
    end
    from (
        -- A line is prose, or an item of the outline: "- Heading: first sentence".
        select
            s.nth,
            coalesce(substring(s.line from '^\s*- [^:]*:?\s*'), '') as heading,
            regexp_replace(s.line, '^\s*- [^:]*:?\s*', '') as words
        from string_to_table(summary, E'\n') with ordinality as s (line, nth)
        where s.line <> ''
    ) as l
    cross join lateral (
        select coalesce(string_agg(t.sentence, ' ' order by t.nth), '') as words
        from regexp_split_to_table(l.words, '(?<=[.!?…:;])\s+')
            with ordinality as t (sentence, nth)
        where t.sentence <> ''
            and (
                l.heading <> '' and length(t.sentence) < 20
                or strpos(coalesce(said, ''), btrim(_pgrag.bare_words(t.sentence))) = 0
            )
    ) as k
    where k.words <> ''
        or l.words = '' and (
            length(l.heading) < 20
            or strpos(coalesce(said, ''), btrim(_pgrag.bare_words(l.heading))) = 0
        );
$$;

-- The words of a text without marks, tags, numbers of list items and addresses of links.
create or replace function _pgrag.bare_words(
    markdown text
)
returns text
language sql
immutable
parallel safe
as $$
    select regexp_replace(
        regexp_replace(
            lower(_pgrag.plain_text(markdown)),
            '\[\[[^][|]*\||<[^<>]*>|\n\s*\d{1,9}[.)]\s', ' ', 'g'
        ),
        '[^[:alnum:]]+', ' ', 'g'
    );
$$;
