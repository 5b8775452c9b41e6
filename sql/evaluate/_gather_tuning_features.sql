-- Gathers once what does not depend on the settings: candidate passages with title scores and
-- cosines, and term frequencies per field. tuned_gains then ranks them with any settings, without
-- reading the library again. Heavy joins are apart, because searches need nested loops.
create or replace function _pgrag.gather_tuning_features(
    run pgrag.tuning_runs
)
returns void
language plpgsql
volatile
as $$
declare
    owner_id constant bigint := (run).library_id;
begin
    -- Explicit levels keep summaries next to their paragraphs; twice top_k hits are guaranteed.
    create temporary table tuning_requests on commit drop as
    select
        q.question_number, x.expansion, m as request,
        array(
            select h.document_id
            from unnest((_pgrag.rank(m, '{}', m.candidate_count * 2)).hits) as h
        ) as candidates
    from pg_temp.tuning_questions as q
    cross join lateral (
        select 'none' as expansion
        union
        select (run).settings_before ->> 'query_expansion'
        where (run).settings_before ? 'query_expansion'
        union
        select v
        from _pgrag.tuned_switches(owner_id) as s
        cross join lateral jsonb_array_elements_text(s.candidates) as v
        where s.name = 'query_expansion'
    ) as x
    cross join lateral _pgrag.make_request(
        q.words,
        jsonb_build_object(
            'library', (run).library,
            'version', (run).version,
            'top_k', 25,
            'candidate_count', 50,
            'levels', array[1, 2],
            'intent', 'off',
            'query_expansion', x.expansion,
            'graph', false,
            'alpha', 0.5
        )
    ) as m
    where not q.is_muted;
    analyze pg_temp.tuning_requests;

    -- Candidates of searches, and the passages of relevant pages.
    create temporary table tuning_candidates on commit drop as
    select
        q.question_number, d.document_id, d.page_id, d.level, i.sort_order, i.section_end,
        case
            when not q.is_muted
            then _pgrag.title_score(
                coalesce((p.title_weights <#> o.title_keywords) ^ 2, 0),
                (i.title_weights <#> o.title_keywords) ^ 2
            )
            when q.kind <> 'title'
            then _pgrag.title_score(coalesce((p.title_weights <#> o.title_keywords) ^ 2, 0), null)
        end as title_score,
        -- The built-in model embeds a passage again without the muted fields if these share a word
        -- with the question. Vectors of other models stay, and then alpha is not tuned.
        greatest(
            -(
                case
                    when q.is_muted and m.provider = 'builtin'
                        and tsvector_to_array(
                            ts_filter(
                                d.search,
                                case q.kind when 'title' then '{a,c}' else '{b}' end::"char"[]
                            )
                        ) && array(select t.lexeme from unnest((r.request).terms) as t)
                    then _pgrag.builtin_vector(
                        _pgrag.embedding_text(
                            case q.kind when 'heading' then p.title end,
                            case q.kind
                                when 'heading'
                                then _pgrag.relative_url(
                                    p.url, _pgrag.base_url(owner_id, d.version_id)
                                )
                            end,
                            case q.kind when 'title' then array_remove(d.path, p.title) end,
                            _pgrag.searched_text(d.situation, d.context, d.content)
                        ),
                        m.model_id,
                        m.settings -> 'characters'
                    )
                    else e.embedding
                end <#> o.embedding
            ),
            0
        ) as semantic_score,
        _pgrag.page_weight(p.type, p.language, o.type_weights, o.language) as type_weight
    from pg_temp.tuning_questions as q
    join pg_temp.tuning_requests as r on r.question_number = q.base_number and r.expansion = 'none'
    cross join lateral unnest((r.request).queries) as o
    cross join lateral (
        select unnest(x.candidates) as document_id
        from pg_temp.tuning_requests as x
        where x.question_number = q.base_number
        union
        select d.document_id
        from pgrag.documents as d
        where d.library_id = owner_id and d.page_id = any (q.page_ids) and d.covers & 6 <> 0
    ) as c
    join pgrag.documents as d on d.library_id = owner_id and d.document_id = c.document_id
    join pgrag.impacts as i on i.library_id = owner_id and i.document_id = c.document_id
    join pgrag.pages as p on p.library_id = owner_id and p.page_id = d.page_id
    left join pgrag.embedding_models as m on m.model_id = o.model_id
    left join pgrag.embeddings as e
        on e.library_id = owner_id
        and e.document_id = d.document_id
        and e.model_id = o.model_id
    where d.page_id <> all (q.excluded_pages)
        -- Summaries of sections list the headings below them, those of pages the titles.
        and (q.kind not in ('heading', 'title') or d.level = 2);
    analyze pg_temp.tuning_candidates;
    perform _pgrag.gather_tuning_postings(owner_id);
end;
$$;

-- One row for each question term in a candidate or its page, with the inputs of its impact.
-- counts, lengths and averages are vectors of title, path, url and content (see
-- _pgrag.term_frequencies for a passage, _pgrag.rank_pages for a page), 0 for a muted field: their
-- inner product with the field weights is the weighted frequency, length or average length.
create or replace function _pgrag.gather_tuning_postings(
    owner_id bigint
)
returns void
language plpgsql
volatile
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
begin
    create temporary table tuning_postings on commit drop as
    with words as materialized (
        select
            d.document_id, d.page_id, d.level, d.language, t.lexeme collate "C" as lexeme,
            cardinality(array_positions(t.weights, 'A')) as title,
            cardinality(array_positions(t.weights, 'B')) as path,
            cardinality(array_positions(t.weights, 'C')) as url,
            cardinality(array_positions(t.weights, 'D')) as content
        from pgrag.documents as d
        cross join lateral unnest(d.search) as t
        where d.library_id = owner_id
            and d.page_id in (select c.page_id from pg_temp.tuning_candidates as c)
            and d.covers > 0
            and t.positions is not null
    ),
    texts as materialized (
        select
            false as is_page, w.document_id as text_id, w.language, w.lexeme,
            array[w.title, w.path, w.url, w.content]::vector as counts
        from words as w
        union all
        select
            true, w.page_id, w.language, w.lexeme,
            array[max(w.title), max(w.path), max(w.url), sum(w.content)]::real[]::vector
        from words as w
        where w.level = 2
        group by w.page_id, w.language, w.lexeme
    ),
    lengths as materialized (
        select t.is_page, t.text_id, t.language, sum(t.counts) as counts
        from texts as t
        group by t.is_page, t.text_id, t.language
    ),
    -- The candidates are a sample of the library: their averages are scaled to the library's
    -- average, so that the settings in force give the scores of real searches.
    averages as materialized (
        select
            a.is_page, a.language,
            a.counts * array_fill(
                (
                    case when a.is_page then s.average_page_length else s.average_length end
                    / -(a.counts <#> _pgrag.field_weights(
                        _pgrag.effective_settings(l.settings)
                    )::vector)
                )::real,
                '{4}'
            )::vector as counts
        from (
            select n.is_page, n.language, avg(n.counts) as counts
            from lengths as n
            group by n.is_page, n.language
        ) as a
        join pgrag.libraries as l on l.library_id = owner_id
        join pgrag.corpus_statistics as s
            on s.library_id = owner_id and s.language = a.language
    ),
    asked as materialized (
        select distinct
            c.question_number, r.expansion, x.is_page, x.text_id, t.language,
            t.lexeme collate "C" as lexeme, t.weight,
            case
                when not q.is_muted then '[1, 1, 1, 1]'
                -- An address usually repeats the title.
                when q.kind = 'title' then '[0, 1, 0, 1]'
                else '[1, 0, 1, 1]'
            end::vector as mask
        from pg_temp.tuning_candidates as c
        join pg_temp.tuning_questions as q on q.question_number = c.question_number
        join pg_temp.tuning_requests as r on r.question_number = q.base_number
        cross join lateral unnest((r.request).terms) as t
        cross join lateral (values (false, c.document_id), (true, c.page_id))
            as x (is_page, text_id)
        where r.expansion = 'none' or not q.is_muted
    )
    select
        a.question_number, a.expansion, a.is_page, a.text_id, a.weight, x.counts * a.mask as counts,
        n.counts * a.mask as lengths, v.counts * a.mask as averages
    from asked as a
    join texts as x
        on x.is_page = a.is_page
        and x.text_id = a.text_id
        and x.language = a.language
        and x.lexeme = a.lexeme
    join lengths as n
        on n.is_page = x.is_page and n.text_id = x.text_id and n.language = x.language
    join averages as v on v.is_page = x.is_page and v.language = x.language;
    create index on pg_temp.tuning_postings (expansion);
    analyze pg_temp.tuning_postings;
end;
$$;
