create or replace function pgrag.pages(
    library text,
    version text default null,
    top_k integer default 100,
    after text default null,
    name text default null,
    warned boolean default false
)
returns table (
    page_id bigint,
    key text,
    url text,
    title text,
    path text[],
    topic text,
    type text,
    tags text[],
    language text,
    created timestamptz,
    created_from text,
    modified timestamptz,
    modified_from text,
    documents integer,
    warnings text[],
    words_shown integer,
    words_kept integer
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    chosen_version bigint := (pgrag.resolve_version(library, version)).version_id;
begin
    perform _pgrag.check_count('top_k', pages.top_k);
    return query
    select
        p.page_id, p.key, p.url, p.title, p.path, p.topic, p.type, p.tags, p.language_code,
        p.created, p.created_from, p.modified, p.modified_from, p.document_count, p.warnings,
        p.words_shown, p.words_kept
    from pgrag.pages as p
    where p.library_id = _pgrag.library_id(pages.library)
        and p.version_id = chosen_version
        and (pages.after is null or p.key > pages.after)
        and (
            pages.name is null
            or strpos(lower(p.key), lower(pages.name)) > 0
            or strpos(lower(p.title), lower(pages.name)) > 0
        )
        and (not coalesce(pages.warned, false) or cardinality(p.warnings) > 0)
    order by p.key
    limit pages.top_k;
end;
$$;

comment on function pgrag.pages is
'The pages of one version of a library by key, at most top_k; after: the last key already seen;
name: only pages with this text in key or title; warned: only pages with warnings.
words_shown are the words that a reader of the file sees, words_kept those of them that are indexed;
null where its format is not counted. Errors: PGR01 for top_k, PGR02, PGR03.';
