create or replace function pgrag.quoted_sources(
    document_ids anycompatiblearray,
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
    perform _pgrag.check_range('first_number', first_number, 1, 1000000);
    return query
    with listed as (
        select w.document_id, min(w.nth) as nth, max(w.score) as score
        from unnest(
            _pgrag.passage_ids(quoted_sources.document_ids::text[]), quoted_sources.scores
        )
            with ordinality as w (document_id, score, nth)
        where w.nth <= cardinality(quoted_sources.document_ids)
        group by w.document_id
    ),
    numbered as (
        select
            w.document_id,
            s.source,
            (
                quoted_sources.first_number - 1 + row_number() over (order by w.nth)
            )::integer as number
        from _pgrag.answer_sources(
            array(
                select p
                from listed as w
                cross join lateral _pgrag.document(w.document_id) as d
                cross join lateral _pgrag.passage(
                    d.library_id, d.document_id, 'hit', null, w.score
                ) as p
            ),
            '{}',
            -- The caller knows its budget and takes as many blocks as fit.
            null
        ) as s
        join listed as w on w.document_id = (s.source ->> 'document_id')::bigint
    )
    select
        n.number,
        n.document_id,
        (n.source ->> 'tokens')::integer,
        n.source || jsonb_build_object('number', n.number),
        _pgrag.source_block(n.source, n.number)
    from numbered as n
    order by n.number;
end;
$$;

comment on function pgrag.quoted_sources is
'Passages as numbered sources for a language model, in the order of document_ids, each once; numbers
begin with first_number. source: an object as in the column sources of pgrag.answer_context (score:
from scores, by position; null if missing); block: the source as a model reads it, quoted between
<source …> and </source>; tokens: of the block, 4 bytes of UTF-8 each. Errors: PGR01, PGR05.';
