-- Expands the questions, muted ones by passages without the muted field: the relevant page would
-- otherwise come first by its heading, and its other words would be those that the expansion adds.
create or replace function _pgrag.gather_expanded_terms(
    owner_id bigint,
    expansion text,
    settings jsonb
)
returns void
language plpgsql
volatile
set enable_nestloop = off
set jit = off
as $$
declare
    weights constant vector := _pgrag.field_weights(settings)::vector;
begin
    with scored as (
        select
            p.question_number, p.is_muted, p.text_id,
            sum(
                p.weight * _pgrag.impact(
                    -(p.counts <#> weights),
                    -(p.lengths <#> weights),
                    greatest(-(p.averages <#> weights), 1e-6),
                    (settings ->> 'k1')::double precision,
                    (settings ->> 'b')::double precision
                )
            ) as score
        from pg_temp.tuning_postings as p
        where p.expansion = 'none' and not p.is_page and -(p.counts <#> weights) > 0
        group by p.question_number, p.is_muted, p.text_id
    ),
    best as (
        select
            s.question_number, s.is_muted,
            array_agg(s.text_id order by s.nth) as document_ids,
            array_agg(s.score order by s.nth) as scores
        from (
            select
                s.*,
                row_number() over (
                    partition by s.question_number, s.is_muted order by s.score desc, s.text_id
                ) as nth
            from scored as s
        ) as s
        where s.nth <= 10
        group by s.question_number, s.is_muted
    )
    insert into pg_temp.tuning_terms (
        question_number, is_muted, expansion, language, lexeme, weight
    )
    select
        b.question_number, b.is_muted, gather_expanded_terms.expansion, t.language, t.lexeme,
        t.weight
    from best as b
    join pg_temp.tuning_questions as q on q.question_number = b.question_number
    cross join lateral unnest(
        _pgrag.tuned_terms(
            q.request, gather_expanded_terms.expansion, b.document_ids, b.scores,
            case when b.is_muted then _pgrag.unmuted_fields(q.kind) end
        )
    ) as t;
    perform _pgrag.gather_tuning_postings(owner_id, gather_expanded_terms.expansion);
    analyze pg_temp.tuning_postings;
end;
$$;

create or replace function _pgrag.tuned_terms(
    request _pgrag.search_request,
    expansion text,
    document_ids bigint[],
    scores double precision[],
    fields text[]
)
returns pgrag.query_term[]
language plpgsql
stable
parallel safe
set enable_nestloop = on
set jit = off
as $$
declare
    hits _pgrag.candidates;
    terms pgrag.query_term[] := request.terms;
begin
    if expansion in ('synonyms', 'both') then
        terms := _pgrag.with_synonyms(terms, request.words);
    end if;
    if expansion in ('feedback', 'both') then
        hits.library_ids := array_fill(
            (request.target).library_ids[1], array[cardinality(document_ids)]
        );
        hits.document_ids := document_ids;
        hits.scores := scores;
        terms := _pgrag.with_relevance(terms, hits, fields);
    end if;
    return terms;
end;
$$;

-- The labels of the fields that remain of a muted question. A page's address usually repeats its
-- title, so both are muted.
create or replace function _pgrag.unmuted_fields(
    kind text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select case unmuted_fields.kind when 'title' then '{B, D}' else '{A, C, D}' end::text[];
$$;
