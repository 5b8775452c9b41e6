-- A score in [0, 1]: what share of the query's words, weighted by how few libraries know them,
-- stands in a library's name, title, description or keywords.
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
#variable_conflict use_column
begin
    if find_libraries.top_k is null or find_libraries.top_k not between 1 and 1000 then
        raise exception 'top_k must be between 1 and 1000, got %.',
            coalesce(find_libraries.top_k::text, 'null')
            using errcode = 'PGR01';
    end if;
    return query
    with asked as materialized (
        select c.language, term.lexeme
        from (select distinct l.language from pgrag.libraries as l) as c
        cross join lateral unnest(
            to_tsvector(
                c.language::regconfig,
                pgrag.searchable_text(
                    _pgrag.searched_words(find_libraries.query), camel_case => false
                )
            )
        ) as term
    ),
    -- Of each library the version that a search would read, of those with one of the words.
    matching as materialized (
        select distinct on (v.library_id) v.*, l.name, l.language
        from pgrag.libraries as l
        join (
            select a.language, string_agg(_pgrag.tsquery_lexeme(a.lexeme), ' | ')::tsquery as words
            from asked as a
            group by a.language
        ) as q on q.language = l.language
        join pgrag.versions as v on v.library_id = l.library_id and v.search @@ q.words
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
    stands as materialized (
        select
            m.library_id,
            a.lexeme,
            -- A library's keywords are in the order of their strength, after its other words.
            case min(weight.label)
                when 'A' then 1.0
                when 'B' then 0.8
                when 'C' then 0.6
                else 0.5 - 0.3 * least(min(weight.place), 300) / 300
            end as share
        from matching as m
        join asked as a on a.language = m.language
        cross join lateral unnest(m.search) as term
        cross join lateral unnest(term.weights, term.positions) as weight (label, place)
        where term.lexeme = a.lexeme
        group by m.library_id, a.lexeme
    ),
    weighted as materialized (
        select
            a.language,
            a.lexeme,
            pgrag.inverse_document_frequency(
                count(s.library_id),
                (select count(*) from pgrag.libraries as l where l.language = a.language)
            ) as idf
        from asked as a
        left join (
            select s.library_id, s.lexeme, m.language
            from stands as s
            join matching as m on m.library_id = s.library_id
        ) as s on s.language = a.language and s.lexeme = a.lexeme
        group by a.language, a.lexeme
    )
    select
        m.name,
        m.label,
        m.title,
        m.description,
        r.score,
        r.words,
        m.page_count,
        m.document_count
    from matching as m
    cross join lateral (
        select
            coalesce(sum(w.idf * s.share), 0) / sum(w.idf) as score,
            array_agg(w.lexeme order by w.idf * s.share desc, w.lexeme)
                filter (where s.share is not null) as words
        from weighted as w
        left join stands as s on s.library_id = m.library_id and s.lexeme = w.lexeme
        where w.language = m.language
    ) as r
    order by r.score desc, m.name
    limit find_libraries.top_k;
end;
$$;

comment on function pgrag.find_libraries is
'Which libraries answer this: those whose name, title, description or keywords have words of the
query, the best first, each with the version that a search without a version reads (the newest that
has one of the words). The score is the sum of idf (over libraries) times share of the matched words
by the sum of all idf: between 0 and 1. The share of a word is 1 in the name of library or version,
.8 in the title of the front page, .6 in its description, .5 falling to .2 among the 200 keywords,
by strength. words: the matched lexemes, the strongest first. Filters and marks in the query are
left out. See versions.search. Errors: PGR01.';
