-- A failure of the model loses nothing: the passages are searched without enrichment.
create or replace function pgrag.enrichment_failures(
    library text,
    version text default null,
    top_k integer default 100
)
returns table (
    kind text,
    document_id bigint,
    label text,
    key text,
    path text[],
    model text,
    reason text,
    attempts integer,
    failed_at timestamptz
)
language plpgsql
stable
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(enrichment_failures.library);
    version_ids bigint[] := _pgrag.version_ids(owner_id, enrichment_failures.version);
begin
    perform _pgrag.check_count('top_k', enrichment_failures.top_k);
    return query
    select f.kind, f.document_id, v.label, p.key, d.path, f.model, f.reason, f.attempts, f.failed_at
    from pgrag.enrichment_failures as f
    join pgrag.documents as d on d.library_id = f.library_id and d.document_id = f.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    where f.library_id = owner_id and d.version_id = any (version_ids)
    order by f.kind, p.key, v.version_id, d.sort_order
    limit enrichment_failures.top_k;
end;
$$;

comment on function pgrag.enrichment_failures is
'The passages of a library (or one of its versions) that a language model failed on, and why, at
most top_k (null for all). They are unchanged, and the next run tries them again. A change of its
text removes the failure of a passage. Errors: PGR01 for top_k, PGR02, PGR03.';
