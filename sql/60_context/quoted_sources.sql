-- What a model reads that looks for its sources by itself, in the same words as in
-- pgrag.answer_context: numbered as they come, and quoted so that no document ends its quotation.
create or replace function pgrag.quoted_sources(
    document_ids bigint[],
    scores double precision[] default null,
    first_number integer default 1
)
returns table (
    number integer,
    document_id bigint,
    tokens integer,
    source jsonb,
    block text
)
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
begin
    if (first_number between 1 and 1000000) is not true then
        raise exception 'first_number must be 1 to 1000000, got %.',
            coalesce(first_number::text, 'null')
            using errcode = 'PGR01';
    end if;
    return query
    with wanted as (
        select w.document_id, min(w.place) as place, max(w.score) as score
        from unnest(quoted_sources.document_ids, quoted_sources.scores)
            with ordinality as w (document_id, score, place)
        where w.place <= cardinality(quoted_sources.document_ids)
        group by w.document_id
    ),
    owned as (
        select
            d.library_id,
            array_agg(w.document_id order by w.place) as ids,
            array_agg(w.score order by w.place) as scores
        from wanted as w
        cross join lateral pgrag._document(w.document_id) as d
        group by d.library_id
    ),
    described as (
        select s.source, (s.source ->> 'document_id')::bigint as document_id
        from jsonb_array_elements(
            pgrag._answer_sources(
                array(
                    select p
                    from owned as o
                    cross join lateral pgrag._passages(
                        o.library_id, o.ids,
                        array_fill('hit'::text, array[cardinality(o.ids)]), null, o.scores
                    ) as p
                ),
                -- Whoever counts the tokens of many results takes as many of the blocks as fit.
                2147483647
            )
        ) as s (source)
    ),
    numbered as (
        select
            d.document_id,
            d.source,
            (
                quoted_sources.first_number - 1 + row_number() over (order by w.place)
            )::integer as number
        from described as d
        join wanted as w on w.document_id = d.document_id
    )
    select
        n.number,
        n.document_id,
        (n.source ->> 'tokens')::integer,
        n.source || jsonb_build_object('number', n.number),
        pgrag._source_block(n.source, n.number)
    from numbered as n
    order by n.number;
end;
$$;

comment on function pgrag.quoted_sources(bigint[], double precision[], integer) is
'Documents as numbered sources for a language model, in the order of document_ids, each once;
numbers begin with first_number. source: the object that pgrag.answer_context has in sources (score
is that of scores, in their order; null where there is none); block: the same as a model reads it,
quoted between <source …> and </source>; tokens: of the block, 4 bytes of UTF-8 each. Errors: PGR01,
PGR05.';
