-- nDCG@10 of each question under given settings, on the rows gathered before: the fusion of
-- pgrag.search, with the impacts that these settings would make. A page stands where its best
-- passage does.
create or replace function pgrag._tuned_gains(
    settings jsonb,
    on_validation boolean,
    with_mutes boolean default true
)
returns table (
    query_number integer,
    gain double precision
)
language plpgsql
stable
parallel restricted
set search_path from current
set enable_nestloop = off
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    alpha double precision := (settings ->> 'alpha')::double precision;
    page_evidence double precision := (settings ->> 'page_evidence')::double precision;
    title_evidence double precision := coalesce(
        (settings ->> 'title_evidence')::double precision, 0
    );
begin
    return query
    with texts as materialized (
        select
            t.query_number,
            t.is_page,
            t.text_id,
            sum(
                t.weight * t.frequency * (f.k1 + 1)
                / (t.frequency + f.k1 * (1 - f.b + f.b * t.length / t.average_length))
            ) as score
        from (
            select
                p.query_number,
                p.is_page,
                p.text_id,
                p.weight,
                p.title * f.title + p.path * f.path + p.url * f.url + p.content * f.content
                    as frequency,
                p.title_length * f.title + p.path_length * f.path + p.url_length * f.url
                    + p.content_length * f.content as length,
                f.average_length
            from pg_temp.tuning_postings as p
            join pgrag._tuned_fields(settings, with_mutes) as f
                on f.corpus_number = p.corpus_number and f.kind = p.kind
            where p.is_validation = on_validation
        ) as t
        cross join (
            select
                (settings ->> 'k1')::double precision as k1,
                (settings ->> 'b')::double precision as b
        ) as f
        where t.frequency > 0
        group by t.query_number, t.is_page, t.text_id
    ),
    pages as (
        select
            c.query_number,
            c.page_id,
            max(
                (1 - alpha) * (
                    (1 - page_evidence) * coalesce(t.score, 0)
                    + page_evidence * (
                        (1 - q.title_evidence) * coalesce(p.score, 0)
                        + q.title_evidence * (
                            c.page_title_score + case
                                when with_mutes and q.kind = 'heading' then c.page_title_score
                                else coalesce(c.section_title_score, c.page_title_score)
                            end
                        ) / 2
                    )
                )
                + alpha * coalesce(
                    case when with_mutes then c.muted_score end, c.semantic_score, 0
                )
            ) as score
        from pg_temp.tuning_candidates as c
        -- What is muted is gone, not worthless: its share goes to the rest of the page.
        join (
            select
                q.query_number, q.kind, q.is_validation,
                case when with_mutes and q.kind = 'title' then 0 else title_evidence end
                    as title_evidence
            from pg_temp.tuning_queries as q
        ) as q on q.query_number = c.query_number
        left join texts as t
            on t.query_number = c.query_number and t.text_id = c.document_id and not t.is_page
        left join texts as p
            on p.query_number = c.query_number and p.text_id = c.page_id and p.is_page
        where q.is_validation = on_validation
        group by c.query_number, c.page_id
    ),
    ranked as (
        select
            p.query_number,
            p.page_id,
            row_number() over (
                partition by p.query_number order by p.score desc, p.page_id
            ) as place
        from pages as p
    )
    select
        q.query_number,
        pgrag.ndcg_at(
            array_agg(coalesce(a.grade, 0) order by r.place), min(q.grades), 10
        )
    from ranked as r
    join pg_temp.tuning_queries as q on q.query_number = r.query_number
    left join pg_temp.tuning_answers as a
        on a.question_id = q.question_id and a.page_id = r.page_id
    where r.place <= 10
    group by q.query_number;
end;
$$;

-- What each field weighs for each kind of question, and how long a text then is on average. A title
-- asked for is muted in title and url, which is made of it; a heading in the path.
create or replace function pgrag._tuned_fields(
    settings jsonb,
    with_mutes boolean
)
returns table (
    corpus_number integer,
    kind text,
    title double precision,
    path double precision,
    url double precision,
    content double precision,
    average_length double precision
)
language plpgsql
stable
parallel restricted
set search_path from current
as $$
#variable_conflict use_column
begin
    return query
    select
        c.corpus_number, f.kind, f.title, f.path, f.url, f.content,
        greatest(
            c.title * f.title + c.path * f.path + c.url * f.url + c.content * f.content, 1e-6
        )
    from pg_temp.tuning_corpora as c
    cross join (
        select
            k.kind,
            case when with_mutes and k.kind = 'title' then 0 else w.weights[1] end as title,
            case when with_mutes and k.kind = 'heading' then 0 else w.weights[2] end as path,
            case when with_mutes and k.kind = 'title' then 0 else w.weights[3] end as url,
            w.weights[4] as content
        from unnest('{judged, rated, description, heading, title}'::text[]) as k (kind)
        cross join (
            select pgrag._field_weights(settings)::double precision[] as weights
        ) as w
    ) as f;
end;
$$;
