-- What the original words say about each library. title_vectors: compared with titles, made like
-- title_vector. title_shares: how much of title_evidence counts. Titles are short, so above 4
-- lexemes, the longer a query is, the less likely it names one. Its length is the smallest number
-- of lexemes in any language: the others do not know its stop words. shares: of the query's
-- weight, how much the library knows; of several languages, the one that knows most counts. Only
-- languages with at least 1000 passages are judged: in a smaller library, a missing word says
-- little. is_lacking: whether a judged language lacks a word. Inlined.
create or replace function _pgrag.known_parts(
    terms pgrag.query_term[]
)
returns table (
    library_ids bigint[],
    title_vectors sparsevec[],
    title_shares real[],
    shares double precision[],
    is_lacking boolean
)
language sql
stable
parallel safe
rows 1
as $$
    select
        array_agg(v.library_id), array_agg(v.title_vector), array_agg(v.title_share),
        array_agg(v.share), bool_or(v.is_lacking)
    from (
        select
            l.library_id,
            _pgrag.sparse_vector(
                string_agg(
                    replace(l.title_elements || ':w', 'w', (1 / sqrt(l.title_count))::real::text),
                    ','
                )
            ) as title_vector,
            (4.0 / greatest(min(nullif(l.title_count, 0)), 4))::real as title_share,
            max(l.share) as share,
            bool_or(l.is_lacking) as is_lacking
        from (
            select
                t.library_id,
                count(*) filter (where t.is_of_title) as title_count,
                string_agg(
                    _pgrag.lexeme_id(t.language, t.lexeme)::text, ':w,'
                ) filter (where t.is_of_title) as title_elements,
                sum(case when t.document_count > 0 then t.weight else 0 end)
                    filter (where t.is_judged)
                    / sum(t.weight) filter (where t.is_judged) as share,
                bool_or(t.is_judged and t.document_count = 0) as is_lacking
            from (
                select
                    t.*,
                    t.lexeme = any (named.whole) and t.lexeme <> all (named.joined) as is_of_title,
                    _pgrag.is_judged(t) as is_judged
                from unnest(known_parts.terms) as t
                cross join (
                    select
                        _pgrag.whole_names(array_agg(o.lexeme)) as whole,
                        coalesce(
                            array_agg(replace(o.lexeme, '-', ''))
                                filter (where strpos(o.lexeme, '-') > 0),
                            '{}'
                        ) as joined
                    from unnest(known_parts.terms) as o
                ) as named
                offset 0
            ) as t
            group by t.library_id, t.language
        ) as l
        group by l.library_id
    ) as v;
$$;

-- Whether the language has so many passages that a missing word says something. Inlined.
create or replace function _pgrag.is_judged(
    term pgrag.query_term
)
returns boolean
language sql
immutable
parallel safe
as $$
    select (is_judged.term).idf >= pgrag.inverse_document_frequency(
        (is_judged.term).document_count, 1000
    );
$$;

-- The shares of known_parts for these libraries, if words that only the built-in model knows (of
-- another language, say) count half. models: those of the libraries, with their vectors of the
-- query.
create or replace function _pgrag.understood_shares(
    words text,
    terms pgrag.query_term[],
    libraries pgrag.libraries[],
    wanted_model bigint,
    model_ids bigint[],
    are_builtin boolean[],
    embeddings halfvec[],
    library_ids bigint[]
)
returns double precision[]
language plpgsql
stable
parallel safe
as $$
begin
    return array(
        with judged as materialized (
            select t.*
            from unnest(understood_shares.terms) as t
            where _pgrag.is_judged(t)
        ),
        lacking as materialized (
            select
                j.library_id,
                j.language,
                _pgrag.understood_lexemes(
                    understood_shares.words, j.language, m.model_id
                ) as lexemes
            from judged as j
            join unnest(understood_shares.libraries) as l on l.library_id = j.library_id
            join unnest(model_ids, are_builtin, embeddings) as m (model_id, is_builtin, embedding)
                on m.model_id = coalesce(wanted_model, l.model_id)
            where m.is_builtin and m.embedding is not null
            group by j.library_id, j.language, m.model_id
            having min(j.document_count) = 0
        ),
        shares as (
            select
                j.library_id,
                sum(
                    case
                        when j.document_count > 0 then j.weight
                        when j.lexeme = any (l.lexemes) then j.weight / 2
                        else 0
                    end
                ) / sum(j.weight) as share
            from judged as j
            left join lacking as l on l.library_id = j.library_id and l.language = j.language
            group by j.library_id, j.language
        )
        select max(s.share)
        from unnest(understood_shares.library_ids) with ordinality as l (id, nth)
        left join shares as s on s.library_id = l.id
        group by l.nth
        order by l.nth
    );
end;
$$;
