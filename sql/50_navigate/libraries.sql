-- What there is to search.
create or replace function pgrag.libraries()
returns table (
    library text,
    language text,
    model text,
    versions bigint,
    newest text,
    pages bigint,
    documents bigint,
    settings jsonb,
    updated_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return query
    select
        l.name,
        l.language,
        m.name,
        counted.versions,
        (select r.version from pgrag.resolve_version(l.name) as r where counted.versions > 0),
        counted.pages,
        counted.documents,
        pgrag.effective_settings(l.settings)
            || jsonb_build_object('alpha', pgrag._alpha(l.settings, m.alpha)),
        counted.updated_at
    from pgrag.libraries as l
    left join pgrag.embedding_models as m on m.model_id = l.model_id
    cross join lateral (
        select
            count(*) as versions,
            coalesce(sum(v.page_count), 0)::bigint as pages,
            coalesce(sum(v.document_count), 0)::bigint as documents,
            max(v.updated_at) as updated_at
        from pgrag.versions as v
        where v.library_id = l.library_id
    ) as counted
    order by l.name;
end;
$$;

comment on function pgrag.libraries() is
'Every library: language (text search configuration), embedding model, number of versions, the
newest one, pages and searchable documents in all versions, effective settings, last change.';

create or replace function pgrag.library_versions(
    library text
)
returns table (
    version text,
    version_id bigint,
    class text,
    status text,
    is_newest boolean,
    pages integer,
    documents integer,
    source jsonb,
    updated_at timestamptz
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    owner_id bigint := pgrag._library_id(library_versions.library);
begin
    return query
    select
        v.label, v.version_id, v.class, v.status,
        v.version_id = (
            select r.version_id from pgrag.resolve_version(library_versions.library) as r
        ),
        v.page_count, v.document_count, v.source - 'arguments', v.updated_at
    from pgrag.versions as v
    where v.library_id = owner_id
    order by v.release_key desc nulls last, v.label;
end;
$$;

comment on function pgrag.library_versions(text) is
'The versions of a library, releases first, the newest on top: label (empty for unversioned), class
(semver, partial, tag, unversioned), status (indexing, ready), whether it is the one that a search
without a version uses, pages, searchable documents, source. Errors: PGR02.';

create or replace function pgrag.pages(
    library text,
    version text default null,
    match_count integer default 100,
    after text default null
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
    modified timestamptz,
    documents integer,
    warnings text[]
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted bigint := (
        select r.version_id from pgrag.resolve_version(pages.library, pages.version) as r
    );
begin
    return query
    select
        p.page_id, p.key, p.url, p.title, p.path, p.topic, p.type, p.tags, p.language, p.created,
        p.modified, p.document_count, p.warnings
    from pgrag.pages as p
    where p.library_id = pgrag._library_id(pages.library)
        and p.version_id = wanted
        and (pages.after is null or p.key > pages.after)
    order by p.key
    limit pages.match_count;
end;
$$;

comment on function pgrag.pages(text, text, integer, text) is
'The pages of one version of a library by key, at most match_count after the key given. Errors:
PGR02, PGR03.';

create or replace function pgrag.page(
    page_id bigint
)
returns table (
    page jsonb
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    wanted pgrag.pages := pgrag._page(page.page_id);
begin
    return query
    select to_jsonb(wanted)
        - '{weights, title_weights, anchor_texts, reading, length, library_id, version_id}'::text[]
        || jsonb_build_object('library', l.name, 'version', v.label)
    from pgrag.libraries as l
    join pgrag.versions as v on v.library_id = l.library_id
    where l.library_id = wanted.library_id and v.version_id = wanted.version_id;
end;
$$;

comment on function pgrag.page(bigint) is
'One page as one jsonb object: its front matter as fields (front_matter) and as it was written
(head), and its body. Errors: PGR04.';

create or replace function pgrag.document(
    document_id bigint
)
returns setof pgrag.passage
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
begin
    return query
    select p.*
    from pgrag._passages(
        (pgrag._document(document.document_id)).library_id, array[document.document_id]
    ) as p;
end;
$$;

comment on function pgrag.document(bigint) is
'One document with its page, version and library. Errors: PGR05.';
