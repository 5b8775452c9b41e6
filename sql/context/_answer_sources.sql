-- The sources of the prompt, numbered in reading order: whole passages, as far as they fit, and
-- without what they repeat; without a budget all passages as they are.
create or replace function _pgrag.answer_sources(
    passages pgrag.passage[],
    hits _pgrag.ranked_hit[],
    token_budget integer
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    quoted pgrag.passage[] := passages;
    sources jsonb[];
begin
    -- If a model has written a summary, the page's own sentences are cited instead.
    for nth in 1..cardinality(quoted) loop
        if quoted[nth].level < 2 then
            quoted[nth].content := coalesce(
                (_pgrag.document(quoted[nth].document_id)).extract, quoted[nth].content
            );
        end if;
    end loop;
    sources := _pgrag.sized_sources(quoted, hits);
    if token_budget is not null then
        quoted := _pgrag.without_repetition(
            quoted,
            _pgrag.affordable(
                quoted,
                array(
                    select (s.source ->> 'tokens')::integer
                    from unnest(sources) with ordinality as s (source, nth)
                    order by s.nth
                ),
                token_budget
            )
        );
        -- Only what was shortened is measured again.
        if exists (select from unnest(quoted) as q where q.level < 2) then
            sources := _pgrag.sized_sources(quoted, hits);
        end if;
    end if;
    return (
        select coalesce(
            jsonb_agg(
                jsonb_build_object('number', a.number) || a.source
                order by a.number
            ),
            '[]'
        )
        from (
            select
                s.source,
                row_number() over (
                    order by p.page_score desc, p.page_id, p.sort_order
                ) as number
            from (
                select u.*, max(u.score) over (partition by u.page_id) as page_score
                from unnest(quoted) as u
            ) as p
            join unnest(sources) as s (source)
                on (s.source ->> 'document_id')::bigint = p.document_id
        ) as a
    );
end;
$$;

-- The passages as sources, in their order, with their sizes.
create or replace function _pgrag.sized_sources(
    passages pgrag.passage[],
    hits _pgrag.ranked_hit[]
)
returns jsonb[]
language sql
stable
parallel safe
as $$
    select array(
        select
            jsonb_build_object(
                'tokens', ceil(octet_length(_pgrag.source_block(s.source, 10)) / 4.0)::integer
            )
                || s.source
        from unnest(sized_sources.passages) with ordinality as p
        cross join lateral _pgrag.answer_source(
            sized_sources.passages[p.ordinality], sized_sources.hits
        ) as s (source)
        order by p.ordinality
    );
$$;

-- A passage as a source of an answer.
create or replace function _pgrag.answer_source(
    passage pgrag.passage,
    hits _pgrag.ranked_hit[]
)
returns setof jsonb
language sql
stable
parallel safe
rows 1
as $$
    select jsonb_build_object(
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
        'content', g.content
    )
    from (select (answer_source.passage).*) as g
    left join unnest(answer_source.hits) as h on h.document_id = g.document_id
    join pgrag.libraries as l on l.name = g.library
    -- "offset 0" forces one lookup per passage.
    cross join lateral (
        select stored.type
        from pgrag.pages as stored
        where stored.library_id = l.library_id and stored.page_id = g.page_id
        offset 0
    ) as p;
$$;

-- A source as a language model reads it.
create or replace function _pgrag.source_block(
    source jsonb,
    number integer
)
returns text
language sql
immutable
parallel safe
as $$
    select _pgrag.quoted(
        'source',
        format(
            ' number="%s" title="%s"%s relevance="%s"',
            source_block.number,
            _pgrag.quoted_line(
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
                then format(' type="%s"', _pgrag.quoted_line(source_block.source ->> 'type'))
            end,
            round((source_block.source ->> 'score')::numeric, 2)
        ),
        source_block.source ->> 'content'
    );
$$;
