-- Ratings are added, never changed: somebody's second thought is another row.
create or replace function pgrag.give_feedback(
    search_id uuid,
    rating integer,
    document_id bigint default null,
    comment text default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    new_id bigint;
begin
    if coalesce(rating not between 1 and 5, true) then
        raise exception 'A rating is 1 to 5, not %.', coalesce(rating::text, 'null')
            using errcode = 'PGR01', hint = '1: useless; 5: exactly what was asked for.';
    end if;
    if length(give_feedback.comment) > 10000 then
        raise exception 'A comment has at most 10,000 characters, not %.',
            length(give_feedback.comment)
            using errcode = 'PGR01', hint = 'Shorten it.';
    end if;
    if not exists (
        select from pgrag.searches as s where s.search_id = give_feedback.search_id
    ) then
        raise exception 'There is no recorded search %.',
            coalesce(give_feedback.search_id::text, 'null')
            using errcode = 'PGR14',
                hint = 'Pass the search_id of a search that was recorded and not yet forgotten.';
    end if;
    if give_feedback.document_id is not null and not exists (
        select
        from pgrag.search_hits as h
        where h.search_id = give_feedback.search_id
            and h.document_id = give_feedback.document_id
    ) then
        raise exception 'Search % did not find document %.',
            give_feedback.search_id, give_feedback.document_id
            using errcode = 'PGR05',
                hint = 'Pass the document_id of one of its hits, or none for the whole answer.';
    end if;
    insert into pgrag.feedback as f (search_id, document_id, rating, comment)
    values (
        give_feedback.search_id,
        give_feedback.document_id,
        give_feedback.rating,
        nullif(btrim(give_feedback.comment), '')
    )
    returning f.feedback_id into new_id;
    return new_id;
end;
$$;

comment on function pgrag.give_feedback(uuid, integer, bigint, text) is
'Rates one hit of a recorded search (document_id), or its answer as a whole (null), from 1, useless,
to 5, exactly what was asked for; returns the id of the rating. Ratings add up, none is replaced.
Errors: PGR01 rating or comment, PGR05 a document that the search did not find, PGR14 no such
search.';

create or replace function pgrag.judgements_from_feedback(
    library text default null,
    days integer default null
)
returns table (
    library_name text,
    query text,
    page_key text,
    grade integer,
    mean_rating double precision,
    ratings bigint
)
language plpgsql
stable
parallel safe
set search_path from current
as $$
#variable_conflict use_column
declare
    wanted text := lower(btrim(judgements_from_feedback.library));
begin
    return query
    select
        h.library,
        asked.query,
        h.page_key,
        greatest(round(avg(f.rating))::integer - 2, 0),
        avg(f.rating)::double precision,
        count(*)
    from pgrag.feedback as f
    join pgrag.searches as s on s.search_id = f.search_id
    join pgrag.search_hits as h
        on h.search_id = f.search_id and h.document_id = f.document_id
    cross join lateral (
        select regexp_replace(lower(btrim(s.query)), '\s+', ' ', 'g') as query
    ) as asked
    where h.page_key is not null
        and (wanted is null or h.library = wanted)
        and (
            judgements_from_feedback.days is null
            or f.at >= now() - make_interval(days => judgements_from_feedback.days)
        )
    group by h.library, asked.query, h.page_key
    order by h.library, asked.query, 4 desc, h.page_key;
end;
$$;

comment on function pgrag.judgements_from_feedback(text, integer) is
'Graded relevance of pages, made of the ratings of single hits: for each query (in lower case, with
single blanks) and page the mean rating of its hits, rounded, minus 2 and at least 0. So 5 becomes
grade 3, 4 becomes 2, 3 becomes 1, and what was rated 1 or 2 is judged not relevant. library: only
of this one; days: only ratings of so many days. Ratings of whole answers judge no page.';
