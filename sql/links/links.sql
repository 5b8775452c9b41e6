-- The links of a version in the order in which an author repairs them: file by file, line by line.
-- The id of the last link is the cursor.
create or replace function pgrag.links(
    library text,
    version text default null,
    state text default null,
    page text default null,
    kind text default null,
    top_k bigint default 100000,
    after bigint default null
)
returns setof pgrag.link
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
    wanted_state text := lower(btrim(links.state));
    wanted_page bigint;
    last_key text;
    last_place integer;
begin
    if wanted_state not in (
        'resolved', 'unresolved', 'ambiguous', 'external', 'asset', 'tag', 'orphan', 'fragment',
        'broken'
    ) then
        raise exception 'There is no state % of links.', quote_literal(left(links.state, 200))
            using errcode = 'PGR01',
                hint = 'States: resolved, unresolved, ambiguous, external, asset, tag, fragment '
                    '(the page has no such heading), broken (unresolved, ambiguous or fragment), '
                    'orphan (pages without a link to them).';
    end if;
    perform _pgrag.check_count('top_k', links.top_k);
    if links.page is not null then
        wanted_page := (
            select f.page_id from pgrag.find_page(links.library, links.page, links.version) as f
        );
    end if;
    if links.after is not null then
        if wanted_state = 'orphan' then
            last_key := (
                select p.key
                from pgrag.pages as p
                where p.library_id = owner_id
                    and p.version_id = wanted_version
                    and p.page_id = links.after
            );
        else
            select p.key, e.place
            into last_key, last_place
            from pgrag.edges as e
            join pgrag.pages as p on p.library_id = e.library_id and p.page_id = e.source_page_id
            where e.library_id = owner_id
                and e.version_id = wanted_version
                and e.edge_id = links.after;
        end if;
        if last_key is null then
            raise exception 'There is no link % to continue after.', links.after
                using errcode = 'PGR07', hint = 'It was removed; start again without after.';
        end if;
    end if;

    if wanted_state = 'orphan' then
        return query
        select
            null::bigint, null::bigint, null::text, null::integer, null::text, null::text,
            null::boolean, p.page_id, p.key, null::text, null::text, null::real, 'orphan',
            null::text, null::text, null::text[]
        from pgrag.pages as p
        where p.library_id = owner_id
            and p.version_id = wanted_version
            and (last_key is null or p.key > last_key)
            and (wanted_page is null or p.page_id = wanted_page)
            and not exists (
                select from pgrag.edges as e
                where e.library_id = p.library_id
                    and e.target_page_id = p.page_id
                    and e.source_page_id <> p.page_id
                    and (links.kind is null or e.kind = lower(btrim(links.kind)))
            )
        order by p.key
        limit links.top_k;
        return;
    end if;
    return query
    select
        e.edge_id, e.source_page_id, s.key, e.line, e.target, e.fragment, e.fragment_found,
        e.target_page_id, t.key, e.rule, e.kind, e.confidence, e.state, e.how, e.link_text,
        case
            when e.candidates is not null
            then array(
                select c.key
                from unnest(e.candidates) as candidate (page_id)
                cross join lateral (
                    select p.key
                    from pgrag.pages as p
                    where p.library_id = e.library_id and p.page_id = candidate.page_id
                    offset 0
                ) as c
                order by c.key
            )
        end
    from pgrag.edges as e
    join pgrag.pages as s on s.library_id = e.library_id and s.page_id = e.source_page_id
    left join pgrag.pages as t on t.library_id = e.library_id and t.page_id = e.target_page_id
    where e.library_id = owner_id and e.version_id = wanted_version
        -- The index on key returns pages in order, so a small limit stops early.
        and s.library_id = owner_id
        and s.version_id = wanted_version
        and (last_key is null or s.key >= last_key)
        and (wanted_page is null or e.source_page_id = wanted_page)
        and (links.kind is null or e.kind = lower(btrim(links.kind)))
        and case wanted_state
            when 'fragment' then not e.fragment_found
            when 'broken'
            then e.state in ('unresolved', 'ambiguous') or not e.fragment_found
            else wanted_state is null or e.state = wanted_state
        end
        and (last_key is null or (s.key, e.place, e.edge_id) > (last_key, last_place, links.after))
    order by s.key, e.place, e.edge_id
    limit links.top_k;
    if not found and links.kind is not null then
        perform _pgrag.notice_unknown_kinds(owner_id, array[lower(btrim(links.kind))]);
    end if;
end;
$$;

comment on function pgrag.links is
'The links, relations and tags of one version of a library by source page and position on the page,
at most top_k after the edge with the id after: where each is written (line of the source file),
what is written (target, fragment), its target page and how the target was found. state: resolved,
unresolved, ambiguous (see candidates), external, asset, tag; also fragment (the page has no such
heading or block), broken (unresolved, ambiguous or fragment) and orphan, which returns not links
but the pages without a resolved edge from another page (of this kind, if one is given), with only
target_page_id and target_page, after the page with the id after. page: only links on this page, by
key, url or id. Errors: PGR01, PGR02, PGR03, PGR04, PGR07.';
