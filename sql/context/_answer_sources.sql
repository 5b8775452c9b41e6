-- The sources of the prompt, numbered in reading order: whole passages, as far as they fit, and
-- without what they repeat; without a budget all passages as they are. block: as in source_block.
create or replace function _pgrag.answer_sources(
    passages pgrag.passage[],
    hits _pgrag.ranked_hit[],
    token_budget integer
)
returns table (
    number integer,
    source jsonb,
    block text
)
language plpgsql
stable
parallel safe
rows 20
as $$
#variable_conflict use_column
declare
    cited pgrag.passage[] := passages;
    document_ids bigint[];
    page_types text[];
    blocks text[];
begin
    -- If a model has written a summary, the page's own sentences are cited instead.
    for nth in 1..cardinality(cited) loop
        if cited[nth].level < 2 then
            cited[nth].content := coalesce(
                (_pgrag.document(cited[nth].document_id)).extract, cited[nth].content
            );
        end if;
    end loop;
    select
        array_agg(s.document_id order by s.nth), array_agg(s.type order by s.nth),
        array_agg(_pgrag.source_quotation('', s.name, s.type, s.score, s.content) order by s.nth)
    into document_ids, page_types, blocks
    from (
        -- "offset 0": quoting inlines only what is a column.
        select
            p.ordinality as nth, p.document_id, p.score::numeric, p.content,
            _pgrag.source_name(p.title, p.path) as name,
            (
                select stored.type
                from pgrag.pages as stored
                where stored.library_id = p.page_id >> 33 and stored.page_id = p.page_id
            ) as type
        from unnest(cited) with ordinality as p
        offset 0
    ) as s;
    if token_budget is not null then
        cited := _pgrag.without_repetition(
            cited,
            _pgrag.affordable(
                cited,
                array(
                    select _pgrag.source_size(b.block)
                    from unnest(blocks) with ordinality as b (block, nth)
                    order by b.nth
                ),
                token_budget
            )
        );
    end if;
    return query
    select
        p.number::integer,
        jsonb_build_object(
            'number', p.number,
            'tokens', _pgrag.source_size(p.block),
            'document_id', p.document_id,
            'page_id', p.page_id,
            'key', p.key,
            'library', p.library,
            'version', p.version,
            'title', p.title,
            'url', p.url,
            'anchor', p.anchor,
            'path', p.path,
            'heading', p.heading,
            'type', p.type,
            'level', p.level,
            'score', p.score,
            'hybrid_score', h.hybrid_score,
            'keyword_score', h.keyword_score,
            'semantic_score', h.semantic_score,
            'keyword_rank', h.keyword_rank,
            'semantic_rank', h.semantic_rank,
            'confidence', h.confidence,
            'relation', p.relation,
            'content', p.content
        ),
        -- Behind <source number=".
        overlay(p.block placing p.number::text from 17 for 0)
    from (
        select
            u.*, row_number() over (order by u.page_score desc, u.page_id, u.sort_order) as number
        from (
            select
                c.*, m.type, max(c.score) over (partition by c.page_id) as page_score,
                case
                    -- It may have been shortened.
                    when c.level < 2
                    then _pgrag.source_quotation(
                        '', _pgrag.source_name(c.title, c.path), m.type, c.score::numeric, c.content
                    )
                    else m.block
                end as block
            from unnest(cited) as c
            join unnest(document_ids, page_types, blocks) as m (document_id, type, block)
                on m.document_id = c.document_id
        ) as u
    ) as p
    left join unnest(hits) as h on h.document_id = p.document_id
    order by p.number;
end;
$$;

-- The tokens of a block without its number, which has two digits at most.
create or replace function _pgrag.source_size(
    block text
)
returns integer
language sql
immutable
parallel safe
as $$
    select ceil((octet_length(source_size.block) + 2) / 4.0)::integer;
$$;

-- A source as a language model reads it.
create or replace function _pgrag.source_block(
    source jsonb,
    number integer
)
returns text
language sql
stable
parallel safe
as $$
    select _pgrag.source_quotation(source_block.number::text, s.name, s.type, s.score, s.content)
    from (
        select
            _pgrag.source_name(
                source_block.source ->> 'title',
                array(select jsonb_array_elements_text(source_block.source -> 'path'))
            ) as name,
            source_block.source ->> 'type' as type,
            (source_block.source ->> 'score')::numeric as score,
            source_block.source ->> 'content' as content
        offset 0
    ) as s;
$$;

-- The same of its parts. Inlined, if they are columns.
create or replace function _pgrag.source_quotation(
    number text,
    name text,
    type text,
    score numeric,
    content text
)
returns text
language sql
immutable
parallel safe
as $$
    select _pgrag.quoted(
        'source',
        ' number="' || source_quotation.number
            || '" title="' || _pgrag.quoted_line(source_quotation.name)
            || case
                when source_quotation.type <> ''
                then '" type="' || _pgrag.quoted_line(source_quotation.type)
                else ''
            end
            || '" relevance="' || coalesce(round(source_quotation.score, 2)::text, '') || '"',
        source_quotation.content
    );
$$;

-- The title of the page, unless the path begins with it, and the path. Inlined.
create or replace function _pgrag.source_name(
    title text,
    path text[]
)
returns text
language sql
stable
parallel safe
as $$
    select concat_ws(
        ' › ',
        nullif(source_name.title, source_name.path[1]),
        case when source_name.path <> '{}' then array_to_string(source_name.path, ' › ') end
    );
$$;
