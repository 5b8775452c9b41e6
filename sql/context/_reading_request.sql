-- The request of a context or an answer. A pasted error message may quote names that few pages have
-- (pods "web-1" is forbidden). If the best hit with the quoted phrases scores less than score_share
-- of the best hit without them, the phrases only rank. Words marked by + must always occur.
create or replace function _pgrag.reading_request(
    query text,
    options jsonb,
    query_embedding halfvec
)
returns _pgrag.search_request
language plpgsql
stable
parallel safe
as $$
declare
    request constant _pgrag.search_request := _pgrag.make_request(query, options, query_embedding);
    relaxed _pgrag.search_request;
    arguments jsonb := _pgrag.arguments_in_force(options, request.intent);
begin
    perform _pgrag.refuse_idle_reading_arguments(options, arguments, request);
    if query !~ '(^|\s)"[^"]*[^"\s]' or query ~ '(^|\s)\+\S' or request.words = '' then
        return request;
    end if;
    relaxed := _pgrag.make_request(query, options || '{"phrases": "words"}', query_embedding);
    if _pgrag.best_score(request, arguments)
        >= _pgrag.best_score(relaxed, arguments) * (arguments ->> 'score_share')::double precision
    then
        return request;
    end if;
    raise notice 'The quoted phrases were searched as words, because other passages fit better.'
        using hint = 'Write + before a phrase that must occur.';
    return relaxed;
end;
$$;

-- 0 without a hit.
create or replace function _pgrag.best_score(
    request _pgrag.search_request,
    arguments jsonb
)
returns double precision
language plpgsql
stable
parallel safe
as $$
begin
    return (
        select coalesce(max(h.score), 0)
        from unnest(_pgrag.near_the_best(request, (_pgrag.list_hits(request)).hits, arguments)) as h
    );
end;
$$;

-- As refuse_idle_arguments, for what only contexts and answers take.
create or replace function _pgrag.refuse_idle_reading_arguments(
    stated jsonb,
    in_force jsonb,
    request _pgrag.search_request
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
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
    elsif stated ->> 'inject_count' is not null
        and in_force ->> 'inject_types' is null
        and request.intent is null
    then
        raise exception 'inject_count has an effect only with inject_types, or an intent.'
            using errcode = 'PGR01', hint = 'Pass inject_types, or leave out inject_count.';
    elsif coalesce(stated -> 'inject_types', 'null') in ('null', '[]') then
        return;
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
end;
$$;
