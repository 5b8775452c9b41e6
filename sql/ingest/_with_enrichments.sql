-- Adds stored model output to the passages of whole pages; returns the passages that change.
-- Output for exactly this input is used, of any model: the given model first, then the output in
-- use. Without one, a paragraph with an unchanged text keeps its situation, which only helps
-- retrieval; a summary, which readers see, is replaced by the page's own sentences.
create or replace function _pgrag.with_enrichments(
    library_id bigint,
    documents pgrag.documents[],
    model text default null,
    prompt_version text default null
)
returns setof pgrag.documents
language sql
stable
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with inputs as materialized (
        select i.document_id, i.kind, i.input_hash
        from _pgrag.enrichment_inputs(with_enrichments.documents) as i
    ),
    current as materialized (
        select
            d.document_id, d.situation,
            case when d.extract is not null then d.content end as summary
        from unnest(with_enrichments.documents) as s
        join pgrag.documents as d
            on d.library_id = with_enrichments.library_id and d.document_id = s.document_id
        where (d.situation <> '' or d.extract is not null)
            and d.path = s.path
            and d.context = s.context
            and coalesce(d.extract, d.content) = coalesce(s.extract, s.content)
    ),
    written as (
        select distinct on (i.document_id) i.document_id, e.text
        from inputs as i
        join pgrag.enrichments as e
            on e.library_id = with_enrichments.library_id
            and e.kind = i.kind
            and e.input_hash = i.input_hash
        left join current as c on c.document_id = i.document_id
        order by
            i.document_id,
            (
                e.model = with_enrichments.model
                and e.prompt_version = with_enrichments.prompt_version
            ) is true desc,
            (e.text = case i.kind when 'context' then c.situation else c.summary end) is true desc,
            e.created_at desc, e.model, e.prompt_version
    ),
    missing as (
        select
            s.document_id,
            case
                when i.kind = 'context' then coalesce(w.text, c.situation, '')
                else ''
            end as situation,
            case when i.kind = 'summary' then w.text end as summary,
            s.situation as old_situation,
            case when s.extract is not null then s.content end as old_summary
        from unnest(with_enrichments.documents) as s
        left join inputs as i on i.document_id = s.document_id
        left join written as w on w.document_id = s.document_id
        left join current as c on c.document_id = s.document_id
    ),
    lists as (
        select
            array_agg(w.document_id) as document_ids, array_agg(w.situation) as situations,
            array_agg(w.summary) as summaries
        from missing as w
        where (w.situation, w.summary) is distinct from (w.old_situation, w.old_summary)
    )
    select r.*
    from lists as l
    cross join lateral _pgrag.restated_documents(
        with_enrichments.library_id, with_enrichments.documents,
        l.document_ids, l.situations, l.summaries
    ) as r;
$$;

-- Those passages of whole pages that get these situations and summaries (null: the page's own
-- sentences), with all columns that depend on a text. The type "generated" marks a text that a
-- model wrote and readers see.
create or replace function _pgrag.restated_documents(
    library_id bigint,
    documents pgrag.documents[],
    document_ids bigint[],
    situations text[],
    summaries text[]
)
returns setof pgrag.documents
language plpgsql
stable
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
declare
    given record;
    document pgrag.documents;
    own_text text;
    searched text;
begin
    for given in
        with ranked as (
            select
                s,
                -- The first searched paragraph carries the words of links.
                s.covers > 0 and row_number() over (
                    partition by s.page_id, s.covers > 0
                    order by s.level desc, s.sort_order
                ) = 1 as carries_anchors
            from unnest(restated_documents.documents) as s
        )
        select
            r.s as document, w.situation, w.summary, p.title,
            _pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')) as url,
            case when r.carries_anchors then _pgrag.anchor_text(p.anchor_texts) end as anchor_text
        from ranked as r
        join unnest(
            restated_documents.document_ids, restated_documents.situations,
            restated_documents.summaries
        ) as w (document_id, situation, summary) on w.document_id = (r.s).document_id
        join pgrag.pages as p
            on p.library_id = restated_documents.library_id and p.page_id = (r.s).page_id
        join pgrag.versions as v on v.library_id = p.library_id and v.version_id = p.version_id
    loop
        document := given.document;
        own_text := coalesce(document.extract, document.content);
        document.situation := given.situation;
        document.extract := case when given.summary is not null then own_text end;
        document.content := coalesce(given.summary, own_text);
        document.types := array_remove(document.types, 'generated')
            || case when given.summary is not null then '{generated}'::text[] end;
        searched := _pgrag.searched_text(document.situation, document.context, document.content);
        document.text_hash := pgrag.text_hash(
            _pgrag.embedding_text(given.title, given.url, document.path, searched)
        );
        if document.covers > 0 then
            document.search := _pgrag.header_vector(
                document.language, given.title, array_remove(document.path, given.title), given.url
            ) || _pgrag.content_vector(
                document.language, concat_ws(E'\n\n', searched, given.anchor_text),
                document.library_id, document.version_id
            );
        end if;
        return next document;
    end loop;
end;
$$;

-- Gives stored passages these situations and summaries.
create or replace function _pgrag.restate_documents(
    owner pgrag.libraries,
    document_ids bigint[],
    situations text[],
    summaries text[]
)
returns void
language plpgsql
volatile
as $$
declare
    page_ids bigint[] := array(
        select distinct d.page_id
        from pgrag.documents as d
        where d.library_id = owner.library_id
            and d.document_id = any (restate_documents.document_ids)
        order by d.page_id
    );
    batch bigint[];
begin
    for start in 1 .. cardinality(page_ids) by 200 loop
        batch := page_ids[start : start + 199];
        perform _pgrag.replace_documents(
            owner.library_id, batch,
            array(
                select r
                from _pgrag.restated_documents(
                    owner.library_id,
                    array(
                        select d
                        from pgrag.documents as d
                        where d.library_id = owner.library_id and d.page_id = any (batch)
                    ),
                    restate_documents.document_ids, restate_documents.situations,
                    restate_documents.summaries
                ) as r
            ),
            '{}', owner.settings
        );
    end loop;
    perform _pgrag.refresh_impacts(owner.library_id, owner.settings);
end;
$$;
