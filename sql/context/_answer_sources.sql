-- The sources of the prompt, numbered in reading order: whole passages, as far as they fit.
create or replace function _pgrag.answer_sources(
    passages pgrag.passage[],
    hits _pgrag.ranked_hit[],
    token_budget integer
)
returns jsonb
language sql
stable
parallel safe
as $$
    with described as (
        select
            g.ordinality as nth,
            g.page_id,
            g.sort_order,
            max(g.score) over (partition by g.page_id) as page_score,
            jsonb_build_object(
                'document_id', g.document_id,
                'page_id', g.page_id,
                'key', g.key,
                'library', g.library,
                'version', g.version,
                'title', g.title,
                'url', g.url,
                'anchor', g.anchor,
                'path', g.path,
                'heading', g.heading,
                'type', p.type,
                'level', g.level,
                'score', g.score,
                'hybrid_score', h.hybrid_score,
                'keyword_score', h.keyword_score,
                'semantic_score', h.semantic_score,
                'keyword_rank', h.keyword_rank,
                'semantic_rank', h.semantic_rank,
                'confidence', h.confidence,
                'relation', g.relation,
                -- If a model has written the summary, the page's own sentences are cited instead.
                'content', coalesce(d.extract, g.content)
            ) as source
        from unnest(answer_sources.passages) with ordinality as g
        left join unnest(answer_sources.hits) as h on h.document_id = g.document_id
        join pgrag.libraries as l on l.name = g.library
        -- "offset 0" forces one lookup per passage.
        cross join lateral (
            select stored.type
            from pgrag.pages as stored
            where stored.library_id = l.library_id and stored.page_id = g.page_id
            offset 0
        ) as p
        cross join lateral (
            select stored.extract
            from pgrag.documents as stored
            where stored.library_id = l.library_id and stored.document_id = g.document_id
            offset 0
        ) as d
    ),
    sized as (
        select d.*, ceil(octet_length(_pgrag.source_block(d.source, 10)) / 4.0)::integer as size
        from described as d
    ),
    -- Materialized, because a subquery in the join below might run once per row.
    choice as materialized (
        select
            _pgrag.affordable(
                answer_sources.passages,
                array_agg(s.size order by s.nth),
                answer_sources.token_budget
            ) as fits
        from sized as s
    )
    select coalesce(
        jsonb_agg(
            jsonb_build_object('number', a.number, 'tokens', a.size) || a.source
            order by a.number
        ),
        '[]'
    )
    from (
        select
            s.source,
            s.size,
            row_number() over (order by s.page_score desc, s.page_id, s.sort_order) as number
        from sized as s
        cross join choice
        where choice.fits[s.nth]
    ) as a;
$$;

-- A source as a language model reads it. No text of a passage can end the quotation.
create or replace function _pgrag.source_block(
    source jsonb,
    number integer
)
returns text
language sql
immutable
parallel safe
as $$
    select format(
        E'<source number="%s" title="%s"%s relevance="%s">\n%s\n</source>',
        source_block.number,
        _pgrag.in_attribute(
            concat_ws(
                ' › ',
                nullif(source_block.source ->> 'title', source_block.source #>> '{path,0}'),
                (
                    select string_agg(p.step, ' › ' order by p.nth)
                    from jsonb_array_elements_text(source_block.source -> 'path')
                        with ordinality as p (step, nth)
                )
            )
        ),
        case
            when source_block.source ->> 'type' <> ''
            then format(' type="%s"', _pgrag.in_attribute(source_block.source ->> 'type'))
        end,
        round((source_block.source ->> 'score')::numeric, 2),
        regexp_replace(source_block.source ->> 'content', '<(\s*/?\s*source)', '&lt;\1', 'gi')
    );
$$;

create or replace function _pgrag.in_attribute(
    value text
)
returns text
language sql
immutable
parallel safe
as $$
    select translate(coalesce(in_attribute.value, ''), E'"<>\n\r', E'\'()  ');
$$;
