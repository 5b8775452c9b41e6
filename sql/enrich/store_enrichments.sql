create or replace function pgrag.store_enrichments(
    library text,
    kind text,
    model text,
    prompt_version text,
    enrichments jsonb
)
returns table (
    page_id bigint,
    documents bigint
)
language plpgsql
volatile
set search_path from current
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    owner pgrag.libraries := _pgrag.lock_library(store_enrichments.library);
    page_ids bigint[];
    changed pgrag.documents[];
    faulty jsonb;
begin
    perform _pgrag.check_choice('kind', store_enrichments.kind, '{context, summary}');
    if jsonb_typeof(store_enrichments.enrichments) is distinct from 'array' then
        raise exception 'enrichments must be a JSON array, got %.',
            coalesce(jsonb_typeof(store_enrichments.enrichments), 'null')
            using errcode = 'PGR01', hint = 'See the comment of pgrag.store_enrichments.';
    end if;
    select e
    into faulty
    from jsonb_array_elements(store_enrichments.enrichments) as e
    where jsonb_typeof(e) <> 'object'
        or coalesce(e ->> 'input_hash', '') !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        or jsonb_typeof(e -> 'document_ids') is distinct from 'array'
        or exists (
            select from jsonb_array_elements(
                case when jsonb_typeof(e -> 'document_ids') = 'array' then e -> 'document_ids' end
            ) as d (id)
            where d.id::text !~ '^[0-9]{1,18}$'
        )
        or coalesce(btrim(coalesce(e ->> 'reason', e ->> 'text')), '') = ''
    limit 1;
    if found then
        raise exception 'An enrichment has no input_hash, document_ids or text: %.',
            left(faulty::text, 200)
            using errcode = 'PGR01',
                hint = 'pgrag.pending_enrichments names the first two; give text or reason.';
    end if;
    insert into pgrag.enrichments as e (
        library_id, kind, model, prompt_version, input_hash, text, prompt_tokens, completion_tokens
    )
    select
        owner.library_id, store_enrichments.kind, store_enrichments.model,
        store_enrichments.prompt_version, w.input_hash, w.text, w.prompt_tokens, w.completion_tokens
    from _pgrag.enrichment_rows(store_enrichments.enrichments) as w
    where w.reason is null
    on conflict (library_id, kind, input_hash, model, prompt_version) do nothing;

    insert into pgrag.enrichment_failures as f (
        library_id, document_id, kind, model, input_hash, reason
    )
    select owner.library_id, d.document_id, store_enrichments.kind, store_enrichments.model,
        w.input_hash, left(w.reason, 1000)
    from _pgrag.enrichment_rows(store_enrichments.enrichments) as w
    join pgrag.documents as d
        on d.library_id = owner.library_id and d.document_id = any (w.document_ids)
    where w.reason is not null
    on conflict (library_id, document_id, kind) do update
    set model = excluded.model,
        attempts = case when f.input_hash = excluded.input_hash then f.attempts + 1 else 1 end,
        input_hash = excluded.input_hash,
        reason = excluded.reason,
        failed_at = now();

    delete from pgrag.enrichment_failures as f
    using _pgrag.enrichment_rows(store_enrichments.enrichments) as w
    where w.reason is null
        and f.library_id = owner.library_id
        and f.document_id = any (w.document_ids)
        and f.kind = store_enrichments.kind;

    page_ids := array(
        select distinct d.page_id
        from _pgrag.enrichment_rows(store_enrichments.enrichments) as w
        join pgrag.documents as d
            on d.library_id = owner.library_id and d.document_id = any (w.document_ids)
        where w.reason is null
    );
    changed := array(
        select n
        from _pgrag.with_enrichments(
            owner.library_id,
            array(
                select d
                from pgrag.documents as d
                where d.library_id = owner.library_id and d.page_id = any (page_ids)
            ),
            store_enrichments.model, store_enrichments.prompt_version
        ) as n
    );
    if cardinality(changed) > 0 then
        perform _pgrag.replace_documents(
            owner.library_id,
            array(select distinct c.page_id from unnest(changed) as c),
            changed, '{}', owner.settings
        );
    end if;
    return query
    select c.page_id, count(*)
    from unnest(changed) as c
    group by c.page_id
    order by c.page_id;
end;
$$;

comment on function pgrag.store_enrichments is
'Stores texts of a language model and applies them to passages: enrichments is an array of
{"input_hash", "document_ids", "text", "prompt_tokens", "completion_tokens"} as in
pgrag.pending_enrichments; an entry with "reason" instead of "text" is recorded as a failure, and
its passages do not change. Statistics are updated; texts with a vector in the library reuse that
vector, other texts are pending. A passage whose input changed meanwhile is not touched. Returns the
changed pages, with the number of their changed passages. Errors: PGR01, PGR02.';

create or replace function _pgrag.enrichment_rows(
    enrichments jsonb
)
returns table (
    input_hash uuid,
    document_ids bigint[],
    text text,
    prompt_tokens integer,
    completion_tokens integer,
    reason text
)
language sql
immutable
parallel safe
as $$
    select distinct on (r.input_hash) r.*
    from pg_catalog.jsonb_to_recordset(enrichment_rows.enrichments) as r (
        input_hash uuid, document_ids bigint[], text text, prompt_tokens integer,
        completion_tokens integer, reason text
    )
    order by r.input_hash, r.reason nulls first;
$$;
