-- Users name a page by whatever they have at hand: its file, its address, its id, or, as links do,
-- its name, title or alias.
create or replace function pgrag.find_page(
    library text,
    page text,
    version text default null
)
returns table (
    page_id bigint,
    key text,
    url text,
    title text
)
language plpgsql
stable
parallel safe
rows 1
set search_path from current
as $$
declare
    owner_id bigint := _pgrag.library_id(library);
    wanted_version bigint := (pgrag.resolve_version(library, version)).version_id;
    -- A passage stands for its page: guide.md#c3.
    wish text := regexp_replace(btrim(coalesce(find_page.page, '')), '(.)#c\d{1,9}$', '\1');
    named_ids bigint[];
begin
    named_ids := array(select _pgrag.pages_called(owner_id, wanted_version, wish));
    if cardinality(named_ids) > 1 then
        raise exception 'Library % has % pages named %.',
            quote_literal(lower(btrim(find_page.library))), cardinality(named_ids),
            quote_literal(left(wish, 200))
            using errcode = 'PGR01',
                hint = (
                    select format(
                        'Name one by its key: %s%s.',
                        array_to_string((array_agg(p.key order by p.key))[:10], ', '),
                        case when count(*) > 10 then format(' and %s more', count(*) - 10) end
                    )
                    from pgrag.pages as p
                    where p.library_id = owner_id and p.page_id = any (named_ids)
                );
    end if;
    return query
    select p.page_id, p.key, p.url, p.title
    from pgrag.pages as p
    where p.library_id = owner_id and p.page_id = any (named_ids);
    if found then
        return;
    end if;

    raise exception 'Library % has no page %.',
        quote_literal(lower(btrim(find_page.library))), quote_literal(left(wish, 200))
        using errcode = 'PGR04',
            hint = coalesce(
                'Did you mean '
                    || array_to_string(
                        _pgrag.pages_like(owner_id, wanted_version, wish), ', '
                    ) || '?',
                'Name its key (the path of its file), its name, title or alias, its url or its id.'
            );
end;
$$;

comment on function pgrag.find_page is
'The page of one version of a library (see resolve_version) that has this key (with or without its
suffix), url, id or uuid (in any case, also in braces); else the page that a wikilink of this text
would mean: by the end of its path, its title, an alias or its slug, whatever the case. Errors:
PGR01 with the keys of the pages if the name is ambiguous, PGR02, PGR03, PGR04 with near names.';
