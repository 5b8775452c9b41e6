-- Page by page, so a run can be interrupted, and a model with a prompt cache reads the page once
-- for all its paragraphs. Pages with the same key in several versions come in one batch, so equal
-- inputs are listed once.
create or replace function pgrag.pending_enrichments(
    library text,
    kind text,
    model text,
    prompt_version text,
    version text default null,
    after_key text default null,
    top_k integer default 100
)
returns table (
    input_hash uuid,
    text text,
    document_ids bigint[],
    key text,
    title text,
    path text[],
    page_text text,
    content text
)
language plpgsql
stable
set search_path from current
set work_mem = '64MB'
as $$
declare
    owner_id bigint := _pgrag.library_id(pending_enrichments.library);
    version_ids bigint[] := _pgrag.version_ids(owner_id, pending_enrichments.version);
    batch record;
    row_total bigint;
    remaining bigint := coalesce(pending_enrichments.top_k, 9223372036854775807);
begin
    perform _pgrag.check_choice('kind', pending_enrichments.kind, '{context, summary}');
    for batch in
        select array_agg(k.page_id) as page_ids
        from (
            select p.page_id, (dense_rank() over (order by p.key) - 1) / 50 as number
            from pgrag.pages as p
            where p.library_id = owner_id
                and p.version_id = any (version_ids)
                and (pending_enrichments.after_key is null or p.key > pending_enrichments.after_key)
        ) as k
        group by k.number
        order by k.number
    loop
        return query
        with waiting as materialized (
            select w.*
            from _pgrag.waiting_enrichments(
                owner_id, batch.page_ids, pending_enrichments.kind, pending_enrichments.model,
                pending_enrichments.prompt_version
            ) as w
        ),
        asked as (
            select w.input_hash, array_agg(w.document_id order by w.document_id) as document_ids
            from waiting as w
            group by w.input_hash
        )
        select
            a.input_hash, w.cached, a.document_ids, p.key, p.title, w.path, w.page_text, w.content
        from asked as a
        join waiting as w on w.document_id = a.document_ids[1]
        join pgrag.pages as p on p.library_id = owner_id and p.page_id = w.page_id
        order by p.key, w.page_id, w.sort_order;
        get diagnostics row_total = row_count;
        remaining := remaining - row_total;
        exit when remaining <= 0;
    end loop;
end;
$$;

comment on function pgrag.pending_enrichments is
'The inputs for which a language model has yet to write text for a library, or one of its versions:
one row for each distinct input, of whole pages in the order of their keys after after_key, until at
least top_k rows are returned (null: all). kind is context (the situation of a paragraph on its
page: page_text and content) or summary (of a page or section whose text is content), cut as the
library''s enrichment_limits say (see default_settings). model and prompt_version identify the model
and its prompt. If text is not null, the model already wrote it for this input, for another passage
or an earlier reading of the page: pass text to pgrag.store_enrichments without a new call.
document_ids share the input. Texts shorter than minimum_length are left out. Errors: PGR01, PGR02,
PGR03.';

-- The passages of these pages that lack this model's text, stored or still to be written.
create or replace function _pgrag.waiting_enrichments(
    library_id bigint,
    page_ids bigint[],
    kind text,
    model text,
    prompt_version text
)
returns table (
    document_id bigint,
    page_id bigint,
    sort_order integer,
    input_hash uuid,
    cached text,
    path text[],
    page_text text,
    content text
)
language sql
stable
set enable_nestloop = off
set jit = off
as $$
    with stored as materialized (
        select d
        from pgrag.documents as d
        where d.library_id = waiting_enrichments.library_id
            and d.page_id = any (waiting_enrichments.page_ids)
    )
    select
        i.document_id, i.page_id, (s.d).sort_order, i.input_hash, e.text, i.path, i.page_text,
        i.content
    from _pgrag.enrichment_inputs(array(select s.d from stored as s)) as i
    join stored as s on (s.d).document_id = i.document_id
    left join pgrag.enrichments as e
        on e.library_id = waiting_enrichments.library_id
        and e.kind = i.kind
        and e.input_hash = i.input_hash
        and e.model = waiting_enrichments.model
        and e.prompt_version = waiting_enrichments.prompt_version
    where i.kind = waiting_enrichments.kind
        and (
            e.text is null
            or e.text is distinct from case i.kind
                when 'context' then (s.d).situation
                else case when (s.d).extract is not null then (s.d).content end
            end
        );
$$;
