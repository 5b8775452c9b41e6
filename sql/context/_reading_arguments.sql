-- The arguments in force of a context or an answer. Refuses those of the caller that could have no
-- effect, as refuse_idle_arguments does for every search.
create or replace function _pgrag.reading_arguments(
    stated jsonb,
    request _pgrag.search_request
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    in_force constant jsonb := _pgrag.arguments_in_force(stated, request.intent);
    idle text := (
        select e.key
        from jsonb_each(stated) as e
        where e.key in (
                'expansion_threshold', 'expansion_share', 'max_documents_to_expand',
                'max_chunks_per_document'
            )
            and e.value <> 'null'
            and in_force -> 'expand' = 'false'
        limit 1
    );
    unknown_type text;
begin
    if idle is not null then
        raise exception '% has an effect only with expand=true.', idle
            using errcode = 'PGR01', hint = format('Pass expand=true, or leave out %s.', idle);
    elsif coalesce(stated -> 'inject_count', 'null') not in ('null', '0')
        and in_force ->> 'inject_types' is null
        and request.intent is null
    then
        raise exception 'inject_count has an effect only with inject_types, or an intent.'
            using errcode = 'PGR01', hint = 'Pass inject_types, or leave out inject_count.';
    elsif coalesce(stated -> 'inject_types', 'null') in ('null', '[]') then
        return in_force;
    end if;
    select t.name
    into unknown_type
    from jsonb_array_elements_text(stated -> 'inject_types') as t (name)
    where not exists (
            select from pgrag.page_types as k where lower(k.name) = lower(btrim(t.name))
        )
        and not exists (
            select
            from pgrag.pages as p
            where p.library_id = any ((request.target).library_ids)
                and p.version_id = any ((request.target).version_ids)
                and lower(p.type) = lower(btrim(t.name))
        )
    limit 1;
    if unknown_type is not null then
        raise exception 'inject_types: no page has the type %.', quote_literal(unknown_type)
            using errcode = 'PGR01',
                hint = _pgrag.name_hint(
                    unknown_type, array(select k.name from pgrag.page_types as k order by k.name),
                    'There are', 'No type is configured.'
                );
    end if;
    return in_force;
end;
$$;
