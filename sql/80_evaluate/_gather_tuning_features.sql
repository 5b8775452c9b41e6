-- Everything about the questions that settings do not change, gathered once: which passages could
-- be answers, how often each field says each word, how long the fields are, and the cosines. Any
-- settings are then tried on these rows, and the library is not touched.
create or replace function pgrag._gather_tuning_features(
    library text,
    version_label text,
    version_ids bigint[],
    seed bigint
)
returns void
language plpgsql
volatile
set search_path from current
set client_min_messages = warning
set jit = off
set work_mem = '64MB'
as $$
declare
    owner_id bigint := pgrag._library_id(library);
begin
    drop table if exists pg_temp.tuning_queries, pg_temp.tuning_terms, pg_temp.tuning_candidates;
    create temporary table tuning_queries (
        query_number integer primary key,
        question_id text not null unique,
        kind text not null,
        query text not null,
        words text not null,
        excluded_pages bigint[] not null,
        is_validation boolean not null,
        grades integer[] not null,
        keywords sparsevec,
        embedding halfvec,
        model_id bigint
    ) on commit drop;
    create temporary table tuning_terms (
        query_number integer not null,
        language text not null,
        lexeme text collate "C" not null,
        weight double precision not null
    ) on commit drop;
    create temporary table tuning_candidates (
        query_number integer not null,
        document_id bigint not null,
        page_id bigint,
        level smallint,
        language text,
        semantic_score double precision,
        -- By a vector without the muted fields; null where these do not hold a word of the query.
        muted_score double precision,
        page_title_score double precision not null default 0,
        -- Null for what stands above the first heading.
        section_title_score double precision
    ) on commit drop;

    -- One in three is kept to check the choice with; the seed decides which.
    insert into pg_temp.tuning_queries
    select
        row_number() over (order by q.question_id collate "C"),
        q.question_id,
        q.kind,
        q.query,
        (pgrag.parse_search_text(q.query)).words,
        array(
            select p.page_id
            from pgrag.pages as p
            where p.library_id = owner_id
                and p.version_id = any (version_ids)
                and p.key = any (q.excluded)
                and p.page_id <> all (a.page_ids)
        ),
        row_number() over (order by hashtextextended(q.question_id, seed + 1), q.question_id) % 3
            = 0,
        a.grades
    from pg_temp.tuning_questions as q
    join (
        select a.question_id, array_agg(a.grade) as grades, array_agg(a.page_id) as page_ids
        from pg_temp.tuning_answers as a
        group by a.question_id
    ) as a on a.question_id = q.question_id;
    perform pgrag._gather_candidates(library, version_label, owner_id);
    analyze pg_temp.tuning_queries;
    analyze pg_temp.tuning_terms;
    perform pgrag._gather_answers(owner_id);
    perform pgrag._mute_vectors(owner_id);
    perform pgrag._compare_titles(owner_id);
    analyze pg_temp.tuning_candidates;
    perform pgrag._count_words(owner_id, seed);
end;
$$;

-- What the two arms find, read as a search would read them.
create or replace function pgrag._gather_candidates(
    library text,
    version_label text,
    owner_id bigint
)
returns void
language plpgsql
volatile
set search_path from current
set client_min_messages = warning
as $$
declare
    depth constant integer := 50;
    asked record;
    request pgrag.search_request;
    own pgrag.library_query;
    keyword_hits pgrag.candidates;
    vector_hits pgrag.candidates;
begin
    for asked in
        select q.query_number, q.words from pg_temp.tuning_queries as q order by q.query_number
    loop
        request := pgrag._search_request(
            asked.words, library, version_label, intent => 'off', query_expansion => 'none',
            graph => false, alpha => 0.5
        );
        own := request.queries[1];
        keyword_hits := pgrag._keyword_candidates(request.terms, request.target, depth, depth);
        vector_hits := null;
        if own.embedding is not null then
            vector_hits := pgrag._vector_candidates(
                own.embedding, own.model_id, request.target, depth, request.exact_limit
            );
        end if;
        insert into pg_temp.tuning_candidates (query_number, document_id)
        select asked.query_number, c.document_id
        from unnest(keyword_hits.document_ids || vector_hits.document_ids) as c (document_id)
        group by c.document_id;
        insert into pg_temp.tuning_terms
        select asked.query_number, t.language, t.lexeme, t.weight
        from unnest(request.terms) as t;
        update pg_temp.tuning_queries as q
        set keywords = own.keywords, embedding = own.embedding, model_id = own.model_id
        where q.query_number = asked.query_number;
    end loop;
end;
$$;

-- The best passages of the right pages, found or not; then what is known of all of them.
create or replace function pgrag._gather_answers(
    owner_id bigint
)
returns void
language plpgsql
volatile
set search_path from current
set enable_nestloop = off
set jit = off
as $$
begin
    insert into pg_temp.tuning_candidates (query_number, document_id)
    select b.query_number, b.document_id
    from (
        select
            q.query_number,
            d.document_id,
            row_number() over (
                partition by q.query_number, d.page_id
                order by d.weights <#> q.keywords, d.document_id
            ) as keyword_place,
            row_number() over (
                partition by q.query_number, d.page_id
                order by e.embedding <#> q.embedding, d.document_id
            ) as semantic_place
        from pg_temp.tuning_queries as q
        join pg_temp.tuning_answers as a on a.question_id = q.question_id
        join pgrag.documents as d
            on d.library_id = owner_id and d.page_id = a.page_id and d.covers & 6 <> 0
        left join pgrag.embeddings as e
            on e.library_id = owner_id
            and e.document_id = d.document_id
            and e.model_id = q.model_id
    ) as b
    where least(b.keyword_place, b.semantic_place) <= 8
    except
    select c.query_number, c.document_id
    from pg_temp.tuning_candidates as c;

    update pg_temp.tuning_candidates as c
    set page_id = d.page_id,
        level = d.level,
        language = d.language,
        semantic_score = d.semantic_score
    from (
        select
            c.query_number,
            d.document_id,
            d.page_id,
            d.level,
            d.language,
            greatest(-(e.embedding <#> q.embedding), 0) as semantic_score
        from pg_temp.tuning_candidates as c
        join pg_temp.tuning_queries as q on q.query_number = c.query_number
        join pgrag.documents as d
            on d.library_id = owner_id and d.document_id = c.document_id
        left join pgrag.embeddings as e
            on e.library_id = owner_id
            and e.document_id = c.document_id
            and e.model_id = q.model_id
    ) as d
    where d.query_number = c.query_number and d.document_id = c.document_id;
    -- A section's summary lists the headings below it, a page's are its titles.
    delete from pg_temp.tuning_candidates as c
    using pg_temp.tuning_queries as q
    where q.query_number = c.query_number
        and (
            c.page_id is null
            or c.page_id = any (q.excluded_pages)
            or (q.kind in ('heading', 'title') and c.level < 2)
        );
end;
$$;

-- The cosine of the page's title with the query, and that of the section's heading, squared; every
-- word counts the same.
create or replace function pgrag._compare_titles(
    owner_id bigint
)
returns void
language plpgsql
volatile
set search_path from current
set enable_nestloop = off
set jit = off
as $$
begin
    update pg_temp.tuning_candidates as c
    set page_title_score = pgrag._title_likeness(w.lexemes, t.title_lexemes),
        section_title_score = case
            when t.heading_lexemes is not null
            then pgrag._title_likeness(w.lexemes, t.heading_lexemes)
        end
    from (
        select
            d.document_id,
            pgrag._title_lexemes(d.language, p.title) as title_lexemes,
            pgrag._title_lexemes(
                d.language, nullif(d.path[cardinality(d.path)], p.title)
            ) as heading_lexemes
        from (select distinct c.document_id from pg_temp.tuning_candidates as c) as c
        join pgrag.documents as d on d.library_id = owner_id and d.document_id = c.document_id
        join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
    ) as t
    cross join (
        select t.query_number, t.language, array_agg(t.lexeme::text) as lexemes
        from pg_temp.tuning_terms as t
        group by t.query_number, t.language
    ) as w
    where t.document_id = c.document_id
        and w.query_number = c.query_number
        and w.language = c.language;
end;
$$;

create or replace function pgrag._title_lexemes(
    language text,
    title text
)
returns text[]
language sql
stable
parallel safe
as $$
    select pg_catalog.tsvector_to_array(
        pg_catalog.to_tsvector(
            _title_lexemes.language::regconfig,
            pgrag.searchable_text(_title_lexemes.title, camel_case => false)
        )
    );
$$;

create or replace function pgrag._title_likeness(
    lexemes text[],
    title_lexemes text[]
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        (
            select count(*)
            from pg_catalog.unnest(_title_likeness.title_lexemes) as t (lexeme)
            where t.lexeme = any (_title_likeness.lexemes)
        )::double precision ^ 2
        / nullif(
            pg_catalog.cardinality(_title_likeness.lexemes)
                * pg_catalog.cardinality(_title_likeness.title_lexemes),
            0
        ),
        0
    );
$$;
