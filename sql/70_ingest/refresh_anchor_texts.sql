-- What others call a page is often what people ask for, and not always on the page itself. The
-- words of the links that lead to it are searched as if they stood in its first paragraph; its text
-- and its vectors stay as they are.
create or replace function pgrag.refresh_anchor_texts(
    library text,
    version text default null
)
returns bigint
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
declare
    owner record;
    -- Not in the query below: where the table is empty, it would be asked for nothing.
    owner_id bigint := pgrag._library_id(refresh_anchor_texts.library);
    only_version bigint := case
        when refresh_anchor_texts.version is not null
        then pgrag._version_id(owner_id, refresh_anchor_texts.version)
    end;
    changed bigint[];
    batch bigint[];
begin
    select l.library_id, pgrag.effective_settings(l.settings) as settings
    into owner
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;

    with texts as (
        select
            t.target_page_id as page_id,
            t.link_text,
            row_number() over (
                partition by t.target_page_id order by t.link_count desc, t.link_text
            ) as place
        from (
            select
                e.target_page_id,
                said.link_text,
                count(distinct e.source_page_id) as link_count
            from pgrag.edges as e
            cross join lateral (
                select lower(btrim(regexp_replace(left(e.link_text, 200), '\s+', ' ', 'g')))
            ) as said (link_text)
            where e.library_id = owner_id
                and (only_version is null or e.version_id = only_version)
                and e.target_page_id <> e.source_page_id
                and (owner.settings ->> 'anchor_texts')::boolean
            group by e.target_page_id, said.link_text
        ) as t
        where t.link_text ~ '\w'
    ),
    anchors as (
        select t.page_id, array_agg(t.link_text order by t.place) as anchor_texts
        from texts as t
        where t.place <= 50
        group by t.page_id
    ),
    renamed as (
        update pgrag.pages as p
        set anchor_texts = coalesce(n.anchor_texts, '{}')
        from pgrag.pages as o
        left join anchors as n on n.page_id = o.page_id
        where o.library_id = owner_id
            and (only_version is null or o.version_id = only_version)
            and o.anchor_texts <> coalesce(n.anchor_texts, '{}')
            and p.library_id = o.library_id
            and p.page_id = o.page_id
        returning p.page_id
    )
    select array_agg(r.page_id order by r.page_id) into changed from renamed as r;

    for batch in
        select array_agg(c.page_id)
        from unnest(changed) with ordinality as c (page_id, place)
        group by (c.place - 1) / 500
    loop
        perform pgrag._search_anchors(owner.library_id, batch, owner.settings);
    end loop;
    return coalesce(cardinality(changed), 0);
end;
$$;

comment on function pgrag.refresh_anchor_texts(text, text) is
'Brings pages.anchor_texts up to date, for one version or (null) all: the distinct words of resolved
links from other pages, lower-case, those of the most pages first, at most 50 of each page; none
where the setting anchor_texts of the library is off. They are searched with the first paragraph,
and the statistics move with them. Returns the number of pages that changed. pgrag.finish_version
calls it where the setting is on, pgrag.configure_library when it changes. A labelled set whose
queries are words of links sees its answers by this. Errors: PGR02, PGR03.';

-- The documents that carry the words of links, written anew with those that their pages have now.
create or replace function pgrag._search_anchors(
    library_id bigint,
    page_ids bigint[],
    settings jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    staged pgrag.documents[];
    document_ids bigint[];
    stored pgrag.documents;
    vectors tsvector[];
    place integer;
begin
    select
        array_agg(d.stored order by d.document_id),
        array_agg(d.document_id order by d.document_id),
        array_agg(
            pgrag.search_vector(
                d.language, d.title, array_remove(d.path, d.title), d.relative_url,
                concat_ws(
                    E'\n\n',
                    pgrag._searched_text(d.situation, d.context, d.content),
                    pgrag._anchor_text(d.anchor_texts)
                ),
                _search_anchors.library_id, d.version_id
            )
            order by d.document_id
        )
    into staged, document_ids, vectors
    from (
        select distinct on (o.page_id)
            o as stored,
            o.document_id, o.language, o.path, o.situation, o.context, o.content,
            o.version_id,
            p.title, p.anchor_texts,
            pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')) as relative_url
        from pgrag.documents as o
        join pgrag.pages as p on p.library_id = o.library_id and p.page_id = o.page_id
        join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
        where o.library_id = _search_anchors.library_id
            and o.page_id = any (_search_anchors.page_ids)
            and o.covers > 0
        order by o.page_id, o.level desc, o.sort_order
    ) as d;
    if document_ids is null then
        return;
    end if;
    perform pgrag._forget_documents(_search_anchors.library_id, document_ids, settings);
    perform pgrag._forget_pages(_search_anchors.library_id, page_ids);
    for place in 1..cardinality(staged) loop
        stored := staged[place];
        stored.search := vectors[place];
        staged[place] := stored;
    end loop;
    perform pgrag._write_documents(_search_anchors.library_id, staged, document_ids, settings);
    perform pgrag._rank_pages(_search_anchors.library_id, page_ids, settings);
end;
$$;

-- One text of the words of all links; null without any.
create or replace function pgrag._anchor_text(
    anchor_texts text[]
)
returns text
language sql
immutable
parallel safe
as $$
    select nullif(pg_catalog.array_to_string(_anchor_text.anchor_texts, E'\n\n'), '');
$$;
