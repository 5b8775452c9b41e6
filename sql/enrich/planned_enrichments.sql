create or replace function pgrag.planned_enrichments(
    library text,
    kind text,
    model text,
    prompt_version text,
    version text default null,
    out calls bigint,
    out kept bigint,
    out documents bigint,
    out input_tokens bigint
)
returns record
language plpgsql
stable
set search_path from current
set work_mem = '64MB'
set jit = off
as $$
declare
    owner_id bigint := _pgrag.library_id(planned_enrichments.library);
    version_ids bigint[] := _pgrag.version_ids(owner_id, planned_enrichments.version);
begin
    perform _pgrag.check_choice('kind', planned_enrichments.kind, '{context, summary}');
    select
        count(*) filter (where w.cached is null),
        count(*) filter (where w.cached is not null),
        coalesce(sum(w.documents), 0), coalesce(sum(w.tokens) filter (where w.cached is null), 0)
    into calls, kept, documents, input_tokens
    from (
        select array_agg(k.page_id) as page_ids
        from (
            select p.page_id, (dense_rank() over (order by p.key) - 1) / 50 as number
            from pgrag.pages as p
            where p.library_id = owner_id and p.version_id = any (version_ids)
        ) as k
        group by k.number
    ) as batch
    cross join lateral (
        select
            w.cached, count(*) as documents,
            max(
                ceil(
                    (octet_length(w.page_text) + octet_length(w.content)
                        + octet_length(array_to_string(w.path, ' / '))) / 4.0
                )
            ) as tokens
        from _pgrag.waiting_enrichments(
            owner_id, batch.page_ids, planned_enrichments.kind, planned_enrichments.model,
            planned_enrichments.prompt_version
        ) as w
        group by w.input_hash, w.cached
    ) as w;
end;
$$;

comment on function pgrag.planned_enrichments is
'The work of a run over pgrag.pending_enrichments with the same arguments: calls of the language
model; stored texts that would be reused without a call (kept); the passages that would change by
either; and the tokens of pages and paragraphs in the calls, estimated as 4 bytes each, without the
prompts. Errors: PGR01, PGR02, PGR03.';
