-- Narrows a search to passages of sections whose text is nowhere in another version of the library.
-- Summaries span the sections below them, passages the sections that they touch. One version at a
-- time and by a hashed "not in": a join of unknown versions would compare every two sections.
create or replace function _pgrag.changed_target(
    target _pgrag.search_target,
    since text
)
returns _pgrag.search_target
language plpgsql
stable
parallel safe
set work_mem = '128MB'
set jit = off
as $$
declare
    compared record;
    old_id bigint;
    changed_ids bigint[] := '{}';
begin
    for compared in
        select v.library_id, v.version_id, l.name
        from pgrag.versions as v
        join pgrag.libraries as l on l.library_id = v.library_id
        where v.library_id = any (target.library_ids) and v.version_id = any (target.version_ids)
        -- So that what is told first does not depend on libraries that the caller may not see.
        order by l.name, v.version_id
    loop
        old_id := _pgrag.compared_version(compared.name, since);
        changed_ids := changed_ids || array(
            with changed as materialized (
                select
                    s.page_id,
                    range_agg(int4range(s.line_start, s.line_end, '[]')) as lines
                from pgrag.section_texts as s
                where s.library_id = compared.library_id
                    and s.version_id = compared.version_id
                    and (target.allowed_pages is null or s.page_id = any (target.allowed_pages))
                    and s.text_hash is not null
                    and s.text_hash not in (
                        select o.text_hash
                        from pgrag.section_texts as o
                        where o.library_id = compared.library_id
                            and o.version_id = old_id
                            and o.text_hash is not null
                    )
                group by s.page_id
            )
            select d.document_id
            from changed as c
            cross join lateral (
                select d.document_id, d.line_start, d.line_end
                from pgrag.documents as d
                where d.library_id = compared.library_id
                    and d.page_id = c.page_id
                    and d.covers & target.covers <> 0
                offset 0
            ) as d
            where c.lines && int4range(d.line_start, greatest(d.line_start, d.line_end), '[]')
                and (
                    target.allowed_documents is null
                    or d.document_id = any (target.allowed_documents)
                )
        );
    end loop;
    target.allowed_documents := changed_ids;
    target.document_count := least(target.document_count, cardinality(changed_ids));
    return target;
end;
$$;
