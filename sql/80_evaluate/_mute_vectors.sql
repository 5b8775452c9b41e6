-- What a vector would be without the field that the question was taken from. Only where that field
-- shares a word with the question does it matter; those passages are embedded anew, by the model in
-- the database. Of other models the vectors stay as they are, and alpha is then not tuned by such
-- questions.
create or replace function pgrag._mute_vectors(
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
    set muted_score = greatest(-(m.embedding <#> q.embedding), 0)
    from (
        select t.kind, t.document_id, e.embedding
        from (
            select array_agg(a.kind) as kinds, array_agg(a.document_id) as ids,
                array_agg(a.text) as texts, a.model_id
            from (
                select distinct
                    q.kind,
                    q.model_id,
                    d.document_id,
                    pgrag.embedding_text(
                        case when q.kind <> 'title' then p.title end,
                        case
                            when q.kind <> 'title'
                            then pgrag.relative_url(p.url, v.source ->> 'base_url')
                        end,
                        case when q.kind = 'title' then array_remove(d.path, p.title) end,
                        pgrag._searched_text(d.situation, d.context, d.content)
                    ) as text
                from pg_temp.tuning_candidates as c
                join pg_temp.tuning_queries as q on q.query_number = c.query_number
                join pgrag.embedding_models as m
                    on m.model_id = q.model_id and m.provider = 'builtin'
                join pgrag.documents as d
                    on d.library_id = owner_id and d.document_id = c.document_id
                join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
                join pgrag.versions as v
                    on v.library_id = owner_id and v.version_id = d.version_id
                where q.kind in ('heading', 'title')
                    and exists (
                        select
                        from pg_temp.tuning_terms as t
                        where t.query_number = c.query_number
                            and t.language = c.language
                            and ts_filter(
                                d.search,
                                case q.kind when 'title' then '{a, c}' else '{b}' end::"char"[]
                            ) @@ pgrag._tsquery_lexeme(t.lexeme)::tsquery
                    )
            ) as a
            group by a.model_id
        ) as batch
        cross join lateral unnest(batch.kinds, batch.ids) with ordinality
            as t (kind, document_id, place)
        join lateral pgrag._embed_texts(batch.texts, batch.model_id) as e
            on e.place = t.place
    ) as m
    join pg_temp.tuning_queries as q on q.kind = m.kind
    where c.document_id = m.document_id and c.query_number = q.query_number;
end;
$$;

-- pgrag.embed for many texts: each word is cut into pieces once, however often it occurs.
create or replace function pgrag._embed_texts(
    texts text[],
    model_id bigint
)
returns table (
    place bigint,
    embedding halfvec
)
language plpgsql
stable
parallel safe
set search_path from current
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    characters jsonb := (
        select m.settings -> 'characters'
        from pgrag.embedding_models as m
        where m.model_id = _embed_texts.model_id
    );
begin
    return query
    with recursive words as materialized (
        select t.place, w.word collate "C" as word, count(*) as occurrences
        from unnest(_embed_texts.texts) with ordinality as t (text, place)
        cross join lateral unnest(pgrag._split_words(t.text, characters)) as w (word)
        where length(w.word) between 1 and 100
        group by t.place, w.word
    ),
    walk (word, rest, marker_length, pieces) as (
        select w.word, w.word, 0, '{}'::text[] collate "C"
        from (select distinct w.word from words as w) as w
        union all
        select
            w.word, '##' || substr(w.rest, piece.size + 1), 2, w.pieces || left(w.rest, piece.size)
        from walk as w
        cross join lateral (
            select prefix.size
            from (
                select t.token, t.prefix_lengths
                from pgrag.model_tokens as t
                where t.model_id = _embed_texts.model_id and t.token <= w.rest
                order by t.token desc
                limit 1
            ) as nearest
            cross join unnest(nearest.prefix_lengths) as prefix (size)
            where prefix.size > w.marker_length
                and left(nearest.token, prefix.size) = left(w.rest, prefix.size)
            limit 1
        ) as piece
        where length(w.rest) > w.marker_length
    ),
    pieces as materialized (
        select w.word, t.embedding::vector as embedding
        from walk as w
        cross join unnest(w.pieces) as piece (token)
        join pgrag.model_tokens as t
            on t.model_id = _embed_texts.model_id and t.token = piece.token
        where w.rest = '##'
    )
    select w.place, l2_normalize(avg(p.embedding))::halfvec
    from words as w
    join pieces as p on p.word = w.word
    cross join lateral generate_series(1, w.occurrences) as occurrence
    group by w.place;
end;
$$;
