-- What a model failed on is nobody's loss: the documents are searched as they are.
create or replace function pgrag.enrichment_failures(
    library text,
    version text default null,
    match_count integer default 100
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
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(enrichment_failures.library);
    only_version bigint := case
        when enrichment_failures.version is not null
        then pgrag._version_id(owner_id, enrichment_failures.version)
    end;
begin
    return query
    select
        f.kind, f.document_id, v.label, p.key, d.path, f.model, f.reason, f.attempts, f.failed_at
    from pgrag.enrichment_failures as f
    join pgrag.documents as d on d.library_id = f.library_id and d.document_id = f.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    where f.library_id = owner_id
        and (only_version is null or d.version_id = only_version)
    order by f.kind, p.key, v.version_id, d.sort_order
    limit enrichment_failures.match_count;
end;
$$;

comment on function pgrag.enrichment_failures(text, text, integer) is
'The documents of a library (or one of its versions) that a language model failed on, and why, at
most match_count (null: all): they are as if it had not been asked, and the next run asks again.
A page that is read again with another text forgets its failures. Errors: PGR02, PGR03.';
