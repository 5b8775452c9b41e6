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
    arguments jsonb;
begin
    if query !~ '(^|\s)"[^"]*[^"\s]' or query ~ '(^|\s)\+\S' or request.words = '' then
        return request;
    end if;
    relaxed := _pgrag.make_request(query, options || '{"phrases": "words"}', query_embedding);
    arguments := _pgrag.arguments_in_force(options, request.intent);
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
