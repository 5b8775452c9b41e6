-- What a run would cost, before it costs it: the same reading as the run's own, without the texts.
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
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(planned_enrichments.library);
    only_version bigint := case
        when planned_enrichments.version is not null
        then pgrag._version_id(owner_id, planned_enrichments.version)
    end;
    page_ids bigint[];
    part record;
begin
    perform pgrag._check_enrichment_kind(planned_enrichments.kind);
    calls := 0;
    kept := 0;
    documents := 0;
    input_tokens := 0;
    for page_ids in
        select array_agg(k.page_id)
        from (
            select p.page_id, (dense_rank() over (order by p.key) - 1) / 50 as number
            from pgrag.pages as p
            where p.library_id = owner_id
                and (only_version is null or p.version_id = only_version)
        ) as k
        group by k.number
    loop
        select
            count(*) filter (where w.cached is null) as calls,
            count(*) filter (where w.cached is not null) as kept,
            coalesce(sum(w.documents), 0) as documents,
            coalesce(sum(w.tokens) filter (where w.cached is null), 0) as tokens
        into part
        from (
            select
                w.cached,
                count(*) as documents,
                max(
                    ceil(
                        (octet_length(w.page_text) + octet_length(w.content)
                            + octet_length(array_to_string(w.path, ' / '))) / 4.0
                    )
                ) as tokens
            from pgrag._waiting_enrichments(
                owner_id, page_ids, planned_enrichments.kind, planned_enrichments.model,
                planned_enrichments.prompt_version
            ) as w
            group by w.input_hash, w.cached
        ) as w;
        calls := calls + part.calls;
        kept := kept + part.kept;
        documents := documents + part.documents;
        input_tokens := input_tokens + part.tokens;
    end loop;
end;
$$;

comment on function pgrag.planned_enrichments(text, text, text, text, text) is
'What a run over pgrag.pending_enrichments with the same arguments would do: calls of the language
model; texts that it wrote before and that would only be put in (kept); the documents that would get
one or the other; and the tokens of pages and paragraphs in the calls, estimated as 4 bytes each,
without what the prompts add. Errors: PGR01, PGR02, PGR03.';
