-- What a model wrote is kept by its input, and put into the documents that have that input now: a
-- page that was read again meanwhile is left as it is, and what was written waits for the page to
-- become so again.
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
    owner_id bigint := pgrag._library_id(store_enrichments.library);
    settings jsonb;
    page_ids bigint[];
    stored pgrag.documents[];
    changed pgrag.documents[];
begin
    perform pgrag._check_enrichment_kind(store_enrichments.kind);
    perform pgrag._check_enrichments(store_enrichments.enrichments);
    select pgrag.effective_settings(l.settings)
    into settings
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;

    insert into pgrag.enrichments as e (
        library_id, kind, model, prompt_version, input_hash, text, prompt_tokens,
        completion_tokens
    )
    select
        owner_id, store_enrichments.kind, store_enrichments.model,
        store_enrichments.prompt_version, w.input_hash, w.text, w.prompt_tokens,
        w.completion_tokens
    from pgrag._enrichment_rows(store_enrichments.enrichments) as w
    where w.reason is null
    on conflict (library_id, kind, input_hash, model, prompt_version) do nothing;

    insert into pgrag.enrichment_failures as f (
        library_id, document_id, kind, model, input_hash, reason
    )
    select owner_id, d.document_id, store_enrichments.kind, store_enrichments.model,
        w.input_hash, left(w.reason, 1000)
    from pgrag._enrichment_rows(store_enrichments.enrichments) as w
    join pgrag.documents as d
        on d.library_id = owner_id and d.document_id = any (w.document_ids)
    where w.reason is not null
    on conflict (library_id, document_id, kind) do update
    set model = excluded.model,
        attempts = case
            when f.input_hash = excluded.input_hash then f.attempts + 1
            else 1
        end,
        input_hash = excluded.input_hash,
        reason = excluded.reason,
        failed_at = now();

    delete from pgrag.enrichment_failures as f
    using pgrag._enrichment_rows(store_enrichments.enrichments) as w
    where w.reason is null
        and f.library_id = owner_id
        and f.document_id = any (w.document_ids)
        and f.kind = store_enrichments.kind;

    page_ids := array(
        select distinct d.page_id
        from pgrag._enrichment_rows(store_enrichments.enrichments) as w
        join pgrag.documents as d
            on d.library_id = owner_id and d.document_id = any (w.document_ids)
        where w.reason is null
    );
    stored := array(
        select d
        from pgrag.documents as d
        where d.library_id = owner_id and d.page_id = any (page_ids)
    );
    changed := array(
        select n
        from pgrag._with_enrichments(
            owner_id, stored, store_enrichments.model, store_enrichments.prompt_version
        ) as n
        join unnest(stored) as d on d.document_id = n.document_id
        where (n.situation, n.content) is distinct from (d.situation, d.content)
            or (n.extract is null) <> (d.extract is null)
    );
    perform pgrag._rewrite_documents(owner_id, changed, settings);
    return query
    select c.page_id, count(*)
    from unnest(changed) as c
    group by c.page_id
    order by c.page_id;
end;
$$;

comment on function pgrag.store_enrichments(text, text, text, text, jsonb) is
'Keeps what a language model wrote and puts it into documents: enrichments is an array of
{"input_hash", "document_ids", "text", "prompt_tokens", "completion_tokens"} as
pgrag.pending_enrichments named them; one with "reason" in place of "text" is listed as a failure,
and its documents stay as they are. Statistics move with the rows; vectors of texts that the library
has are handed on, the others are pending. A document that has another input by now is not touched.
Returns the pages that changed, with the number of their documents that did. Errors: PGR01, PGR02.';

create or replace function pgrag._enrichment_rows(
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
    from pg_catalog.jsonb_to_recordset(_enrichment_rows.enrichments) as r (
        input_hash uuid, document_ids bigint[], text text, prompt_tokens integer,
        completion_tokens integer, reason text
    )
    order by r.input_hash, r.reason nulls first;
$$;

create or replace function pgrag._check_enrichments(
    enrichments jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    faulty jsonb;
begin
    if jsonb_typeof(_check_enrichments.enrichments) is distinct from 'array' then
        raise exception 'enrichments must be a JSON array, got %.',
            coalesce(jsonb_typeof(_check_enrichments.enrichments), 'null')
            using errcode = 'PGR01', hint = 'See the comment of pgrag.store_enrichments.';
    end if;
    select e
    into faulty
    from jsonb_array_elements(_check_enrichments.enrichments) as e
    where jsonb_typeof(e) <> 'object'
        or coalesce(e ->> 'input_hash', '') !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        or jsonb_typeof(e -> 'document_ids') is distinct from 'array'
        or exists (
            select
            from jsonb_array_elements(
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
end;
$$;
