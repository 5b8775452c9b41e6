-- Gathers once what does not depend on the settings: the candidate passages of the questions, term
-- frequencies per field, field lengths, title scores and cosines. Any settings are then evaluated
-- on these rows (_tuned_gains), without touching the library. The terms of expanded queries follow
-- when they are tried (gather_expanded_terms).
create or replace function _pgrag.gather_tuning_features(
    owner_id bigint
)
returns void
language plpgsql
volatile
set client_min_messages = warning
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
begin
    -- The candidates of searches, and the passages of relevant pages. A question made from a title
    -- or heading is here twice: unmuted and muted. mask has a 0 for each muted field.
    drop table if exists pg_temp.tuning_candidates;
    create temporary table tuning_candidates on commit drop as
    select
        q.question_number, m.is_muted, m.mask::vector as mask, d.document_id, d.page_id,
        i.level, i.section_id,
        case
            when not (m.is_muted and q.kind = 'title')
            then _pgrag.title_score(
                coalesce((p.title_weights <#> (q.own).title_keywords) ^ 2, 0),
                case when not m.is_muted then (i.title_weights <#> (q.own).title_keywords) ^ 2 end
            )
        end as title_score,
        greatest(-(e.embedding <#> (q.own).embedding), 0) as semantic_score,
        _pgrag.type_weight(p.type, (q.own).type_weights) as type_weight
    from pg_temp.tuning_questions as q
    cross join lateral (
        select false as is_muted, '[1, 1, 1, 1]' as mask
        union all
        select true, (
            select jsonb_agg((f = any (_pgrag.unmuted_fields(q.kind)))::integer)::text
            from unnest('{A, B, C, D}'::text[]) as f
        )
        where q.kind in ('heading', 'title')
    ) as m
    cross join lateral (
        select unnest(q.candidates) as document_id
        union
        select d.document_id
        from pgrag.documents as d
        where d.library_id = owner_id and d.page_id = any (q.page_ids) and d.covers & 6 <> 0
    ) as c
    join pgrag.documents as d on d.library_id = owner_id and d.document_id = c.document_id
    join pgrag.impacts as i on i.library_id = owner_id and i.document_id = c.document_id
    join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
    left join pgrag.embeddings as e
        on e.library_id = owner_id
        and e.document_id = d.document_id
        and e.model_id = (q.own).model_id
    where d.page_id <> all (q.excluded_pages)
        -- Summaries of sections list the headings below them, those of pages the titles.
        and (q.kind not in ('heading', 'title') or d.level = 2);
    analyze pg_temp.tuning_candidates;

    drop table if exists pg_temp.tuning_terms;
    create temporary table tuning_terms on commit drop as
    select
        c.question_number, c.is_muted, 'none' as expansion, t.language,
        t.lexeme collate "C" as lexeme, t.weight
    from (
        select distinct c.question_number, c.is_muted from pg_temp.tuning_candidates as c
    ) as c
    join pg_temp.tuning_questions as q on q.question_number = c.question_number
    cross join lateral unnest((q.request).terms) as t;
    drop table if exists pg_temp.tuning_postings;
    create temporary table tuning_postings (
        question_number bigint,
        is_muted boolean,
        expansion text,
        is_page boolean,
        text_id bigint,
        weight double precision,
        counts vector,
        lengths vector,
        averages vector
    ) on commit drop;
    create index on pg_temp.tuning_postings (expansion);
    perform _pgrag.gather_tuning_postings(owner_id, 'none');

    -- Where a muted field has a term of the question, the built-in model embeds the passage again
    -- without this field. Vectors of other models do not change, and alpha is then not tuned with
    -- such questions.
    update pg_temp.tuning_candidates as c
    set semantic_score = greatest(-(m.embedding <#> (q.own).embedding), 0)
    from (
        select t.kind, t.document_id, e.embedding
        from (
            select
                t.model_id, array_agg(t.kind) as kinds, array_agg(t.document_id) as ids,
                array_agg(
                    pgrag.embedding_text(
                        case when t.kind = 'heading' then p.title end,
                        case
                            when t.kind = 'heading'
                            then pgrag.relative_url(p.url, v.source ->> 'base_url')
                        end,
                        case when t.kind = 'title' then array_remove(d.path, p.title) end,
                        _pgrag.searched_text(d.situation, d.context, d.content)
                    )
                ) as texts
            from (
                select distinct q.kind, m.model_id, c.document_id
                from pg_temp.tuning_candidates as c
                join pg_temp.tuning_questions as q on q.question_number = c.question_number
                join pgrag.embedding_models as m
                    on m.model_id = (q.own).model_id and m.provider = 'builtin'
                where c.is_muted
                    and exists (
                        select
                        from pg_temp.tuning_postings as p
                        where p.question_number = c.question_number
                            and p.text_id = c.document_id
                            and not p.is_muted
                            and not p.is_page
                            and p.counts <> p.counts * c.mask
                    )
            ) as t
            join pgrag.documents as d
                on d.library_id = owner_id and d.document_id = t.document_id
            join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
            join pgrag.versions as v on v.library_id = owner_id and v.version_id = d.version_id
            group by t.model_id
        ) as batch
        cross join lateral unnest(batch.kinds, batch.ids) with ordinality
            as t (kind, document_id, nth)
        join lateral _pgrag.embed_texts(batch.texts, batch.model_id) as e on e.nth = t.nth
    ) as m
    join pg_temp.tuning_questions as q on q.kind = m.kind
    where c.is_muted
        and c.document_id = m.document_id
        and c.question_number = q.question_number;
end;
$$;

-- pgrag.embed for many texts: each distinct word is split into pieces only once.
create or replace function _pgrag.embed_texts(
    texts text[],
    model_id bigint
)
returns table (
    nth bigint,
    embedding halfvec
)
language sql
stable
parallel safe
as $$
    with words as materialized (
        select t.nth, w.word collate "C" as word, count(*) as occurrences
        from pgrag.embedding_models as m
        cross join unnest(embed_texts.texts) with ordinality as t (text, nth)
        cross join lateral unnest(
            _pgrag.split_words(t.text, m.settings -> 'characters')
        ) as w (word)
        where m.model_id = embed_texts.model_id
        group by t.nth, w.word
    ),
    pieces as materialized (
        select p.word, p.embedding::vector as embedding
        from _pgrag.word_pieces(
            array(select distinct w.word from words as w), embed_texts.model_id
        ) as p
    )
    select w.nth, l2_normalize(avg(p.embedding))::halfvec
    from words as w
    join pieces as p on p.word = w.word
    cross join lateral generate_series(1, w.occurrences) as occurrence
    group by w.nth;
$$;
