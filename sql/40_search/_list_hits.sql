-- The hits of a request, whichever way leads to them, and how long it took.
create or replace function pgrag._list_hits(
    request pgrag.search_request
)
returns pgrag.listing
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    return case
        when request.words = '' then pgrag._matching_hits(request)
        when pgrag._is_rearranged(request) then pgrag._rearranged_hits(request)
        when request.after_id is null then pgrag._first_hits(request)
        else pgrag._next_hits(request)
    end;
end;
$$;

-- From ids to rows.
create or replace function pgrag._hits(
    request pgrag.search_request,
    listing pgrag.listing,
    snippets boolean,
    explain boolean,
    search_id uuid default null
)
returns setof pgrag.hit
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    select
        d.document_id,
        d.page_id,
        l.name,
        v.label,
        p.url,
        p.title,
        d.path,
        d.content,
        h.score,
        h.keyword_score,
        h.semantic_score,
        p.key,
        d.level,
        d.heading,
        d.anchor,
        d.types,
        d.sort_order,
        d.line_start,
        d.line_end,
        p.link,
        case when _hits.snippets then pgrag._snippet(d.language, d.content, request) end,
        listing.cursors[place],
        case
            when _hits.explain
            then pgrag._explanation(request, listing.hits[place], listing.plans)
        end,
        h.hybrid_score,
        _hits.search_id
    from generate_subscripts(listing.hits, 1) as place
    cross join lateral (select (listing.hits[place]).*) as h
    join pgrag.documents as d on d.library_id = h.library_id and d.document_id = h.document_id
    join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
    join pgrag.versions as v on v.library_id = d.library_id and v.version_id = d.version_id
    join pgrag.libraries as l on l.library_id = d.library_id
    order by place;
end;
$$;

-- Only the rows that are returned are marked up: ts_headline reads the whole text.
create or replace function pgrag._snippet(
    language text,
    content text,
    request pgrag.search_request
)
returns text
language sql
stable
parallel safe
set search_path from current
as $$
    select case
        when words.query is null then left(pgrag.plain_text(_snippet.content), 300)
        else ts_headline(
            _snippet.language::regconfig,
            pgrag.plain_text(_snippet.content),
            words.query,
            'StartSel=**, StopSel=**, MaxFragments=2, MaxWords=30, MinWords=12, '
            'FragmentDelimiter=" … "'
        )
    end
    from (
        select string_agg(distinct pgrag._tsquery_lexeme(t.lexeme), ' | ')::tsquery as query
        from unnest((_snippet.request).terms) as t
        where t.language = _snippet.language
    ) as words;
$$;
