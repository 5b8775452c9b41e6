create or replace function pgrag.find_libraries(
    query text,
    top_k integer default 10
)
returns table (
    library text,
    version text,
    title text,
    description text,
    score double precision,
    words text[],
    pages integer,
    documents integer
)
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
begin
    perform _pgrag.check_range('top_k', find_libraries.top_k, 1, 1000);
    return query
    with asked as materialized (
        select
            c.language, term.lexeme, word.query,
            (word.query || ':A')::tsquery as in_name,
            (word.query || ':B')::tsquery as in_title,
            (word.query || ':C')::tsquery as in_description
        from (select distinct l.language from pgrag.libraries as l) as c
        -- Each term is compared with each library, hence the limit.
        cross join lateral (
            select t.lexeme
            from unnest(
                _pgrag.query_vector(c.language, _pgrag.searched_words(find_libraries.query))
            ) as t
            order by t.positions[1], t.lexeme
            limit 64
        ) as term
        cross join lateral _pgrag.tsquery_lexeme(term.lexeme) as word (query)
    ),
    -- Of each library the version that a search would read, of those with one of the words.
    matching as materialized (
        select distinct on (v.library_id)
            v.library_id, v.label, v.title, v.description, v.page_count, v.document_count, l.name,
            l.language,
            -- A copy, which is not unpacked again for each word.
            v.search || ''::tsvector as search
        from (
            select a.language, string_agg(a.query, ' | ')::tsquery as words
            from asked as a
            group by a.language
        ) as q
        -- "offset 0": by the index, once for each language.
        cross join lateral (
            select v.* from pgrag.versions as v where v.search @@ q.words offset 0
        ) as v
        join pgrag.libraries as l on l.library_id = v.library_id and l.language = q.language
        order by
            v.library_id,
            v.status = 'ready' desc,
            v.release_key is not null desc,
            v.prerelease,
            v.release_key desc,
            v.class = 'unversioned' desc,
            v.created_at desc,
            v.version_id desc
    ),
    -- How strongly each of the words stands for a library.
    stands as materialized (
        select
            m.library_id, a.language, a.lexeme,
            case
                when m.search @@ a.in_name then 1.0
                when m.search @@ a.in_title then 0.8
                when m.search @@ a.in_description then 0.6
                else 0.4
            end as share
        from matching as m
        join asked as a on a.language = m.language and m.search @@ a.query::tsquery
    ),
    weighted as materialized (
        select
            a.language, a.lexeme, w.idf,
            sum(w.idf) over (partition by a.language) as whole
        from asked as a
        left join (
            select s.language, s.lexeme, count(*) as libraries
            from stands as s
            group by s.language, s.lexeme
        ) as s on s.language = a.language and s.lexeme = a.lexeme
        cross join lateral pgrag.inverse_document_frequency(
            coalesce(s.libraries, 0), (select count(*) from pgrag.libraries)
        ) as w (idf)
    ),
    scored as (
        select
            s.library_id,
            sum(w.idf * s.share) / min(w.whole) as score,
            array_agg(_pgrag.with_signs(s.lexeme) order by w.idf * s.share desc, s.lexeme)
                as words
        from stands as s
        join weighted as w on w.language = s.language and w.lexeme = s.lexeme
        group by s.library_id
    )
    select
        m.name, m.label, m.title, m.description, r.score, r.words, m.page_count, m.document_count
    from scored as r
    join matching as m on m.library_id = r.library_id
    order by r.score desc, m.name
    limit find_libraries.top_k;
end;
$$;

comment on function pgrag.find_libraries is
'The libraries that match a query, the best first: those with words of the query in their name, in
the title or description of their front page, or among the 200 lexemes that most of their pages
have. Each comes with the version that a search without a version reads (the newest with one of the
words), as its last finished run left it. score: the sum of idf (over the libraries that the caller
may see) times share of the matching words, by the sum of all idf: above 0, at most 1. share is 1 in
the name of library or version, .8 in the title, .6 in the description, .4 among the 200 lexemes.
words: the matching lexemes, the strongest first. The query is read in the language of each library;
its first 64 words count, filters and -words do not. No rows for a query without words. Equal scores
are in the order of names. See versions.search. Errors: PGR01 for top_k (1 to 1000), PGR06 as in
parse_query.';
