-- Whatever asks for the id of a passage takes its key or a page, too.
create or replace function pgrag.passage_id(
    passage text,
    library text default null,
    version text default null
)
returns bigint
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    parts constant text[] := regexp_match(btrim(passage), '^(.+)#c(\d{1,9})$');
    home pgrag.pages;
    found_id bigint;
begin
    if passage is null or btrim(passage) ~ '^-?[0-8]?[0-9]{1,18}$' then
        return passage::bigint;
    end if;
    home := _pgrag.page(pgrag.page_id(coalesce(parts[1], passage), library, version));
    if parts is null then
        return _pgrag.page_document(home.library_id, home.page_id);
    end if;
    select d.document_id
    into found_id
    from pgrag.documents as d
    where d.library_id = home.library_id
        and d.page_id = home.page_id
        and d.sort_order = parts[2]::integer;
    if found_id is null then
        raise exception 'Page % has no passage %.', quote_literal(home.key), 'c' || parts[2]
            using errcode = 'PGR05',
                hint = 'The page may have changed; its outline lists what it has now.';
    end if;
    return found_id;
end;
$$;

comment on function pgrag.passage_id is
'The id of a passage: itself, or that of a key, as chunk_key of a hit says: a page (see page_id),
"#c" and its sort_order, such as guide/install.md#c3 or handbook@2.0:guide/install.md#c3. A page
alone means its own passage. Every function with an argument document_id or document_ids takes such
a key instead. Errors: PGR01 with the pages of an ambiguous name, PGR02, PGR03, PGR04, PGR05.';

-- The row of a passage by its id or key.
create or replace function _pgrag.passage_named(
    passage text
)
returns pgrag.documents
language sql
stable
parallel safe
as $$
    select _pgrag.document(pgrag.passage_id(passage_named.passage));
$$;

create or replace function _pgrag.passage_ids(
    passages text[]
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        -- Ids are seldom anything else, and a call for each would take longer.
        select case
            when translate(p.passage, '0123456789', '') = '' and length(p.passage) between 1 and 18
            then p.passage::bigint
            else pgrag.passage_id(p.passage)
        end
        from unnest(passage_ids.passages) with ordinality as p (passage, nth)
        order by p.nth
    );
$$;
