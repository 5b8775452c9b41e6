-- The same section in another version: by its page and headings, else by its text, in a section
-- whose page and headings the first version does not have. Without a section, the page.
create or replace function _pgrag.counterpart(
    page pgrag.pages,
    section pgrag.section_texts,
    version_id bigint
)
returns table (
    page_id bigint,
    document_id bigint
)
language plpgsql
stable
parallel safe
rows 1
as $$
declare
    other_page bigint := _pgrag.same_page(page, counterpart.version_id);
begin
    if section.document_id is null then
        return query select other_page, null::bigint where other_page is not null;
        return;
    end if;
    return query
    select s.page_id, s.document_id
    from pgrag.section_texts as s
    where s.library_id = page.library_id
        and s.page_id = other_page
        and s.headings = section.headings
        and s.occurrence = section.occurrence;
    if not found then
        return query
        select s.page_id, s.document_id
        from pgrag.section_texts as s
        join pgrag.pages as p on p.library_id = s.library_id and p.page_id = s.page_id
        where s.library_id = page.library_id
            and s.version_id = counterpart.version_id
            and s.text_hash = section.text_hash
            and not exists (
                select from pgrag.section_texts as t
                where t.library_id = page.library_id
                    and t.page_id = _pgrag.same_page(p, page.version_id)
                    and t.headings = s.headings
                    and t.occurrence = s.occurrence
            )
        order by
            s.headings[cardinality(s.headings)] = section.headings[cardinality(section.headings)]
                desc nulls last,
            s.page_id = other_page desc nulls last,
            s.page_id
        limit 1;
    end if;
end;
$$;

-- The same page in another version: by its uuid, its key, or its body if that is not the body of
-- another page of both versions.
create or replace function _pgrag.same_page(
    page pgrag.pages,
    version_id bigint
)
returns bigint
language sql
stable
parallel safe
as $$
    select coalesce(
        (
            select min(p.page_id)
            from pgrag.pages as p
            where p.library_id = (same_page.page).library_id
                and p.uuid = (same_page.page).uuid
                and p.version_id = same_page.version_id
            having count(*) = 1
        ),
        (
            select p.page_id
            from pgrag.pages as p
            where p.library_id = (same_page.page).library_id
                and p.version_id = same_page.version_id
                and p.key = (same_page.page).key
        ),
        (
            select p.page_id
            from pgrag.pages as p
            where p.library_id = (same_page.page).library_id
                and p.version_id = same_page.version_id
                and p.body_hash = (same_page.page).body_hash
                and p.body ~ '\S'
                and not exists (
                    select from pgrag.pages as b
                    where b.library_id = p.library_id
                        and b.version_id = (same_page.page).version_id
                        and b.key = p.key
                )
            order by _pgrag.file_name(p.key) = _pgrag.file_name((same_page.page).key) desc, p.key
            limit 1
        )
    );
$$;

-- A section in its own version, then in one version after the other, back (step -1) or forth (1),
-- as far as it exists without a gap; without a section, the page. is_moved and is_changed compare
-- with the row before. Releases in their order, then other versions by age.
create or replace function _pgrag.section_lineage(
    page pgrag.pages,
    section pgrag.section_texts,
    step integer
)
returns table (
    version_id bigint,
    page_id bigint,
    document_id bigint,
    is_moved boolean,
    is_changed boolean
)
language plpgsql
stable
parallel safe
rows 5
as $$
declare
    versions bigint[] := _pgrag.versions_in_order(page.library_id);
    nth integer := array_position(versions, page.version_id);
    other record;
    other_page pgrag.pages;
    other_section pgrag.section_texts;
begin
    return query select page.version_id, page.page_id, section.document_id, false, false;
    while versions[nth + step] is not null loop
        nth := nth + step;
        select c.* into other from _pgrag.counterpart(page, section, versions[nth]) as c;
        exit when not found;
        select p.* into other_page
        from pgrag.pages as p
        where p.library_id = page.library_id and p.page_id = other.page_id;
        other_section := null;
        if other.document_id is not null then
            select s.* into other_section
            from pgrag.section_texts as s
            where s.library_id = page.library_id
                and s.page_id = other.page_id
                and s.document_id = other.document_id;
        end if;
        return query
        select
            versions[nth], other.page_id, other.document_id,
            (other_page.key, other_section.headings) is distinct from (page.key, section.headings),
            case when section.document_id is null
                then (other_page.body_hash, other_page.head)
                    is distinct from (page.body_hash, page.head)
                else other_section.text_hash is distinct from section.text_hash
            end;
        page := other_page;
        section := other_section;
    end loop;
end;
$$;

create or replace function _pgrag.versions_in_order(
    library_id bigint
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select v.version_id
        from pgrag.versions as v
        where v.library_id = versions_in_order.library_id
        order by v.release_key nulls last, v.created_at, v.version_id
    );
$$;
