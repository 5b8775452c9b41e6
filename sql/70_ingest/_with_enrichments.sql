-- Whole pages of documents with what a language model wrote for them. What was written for just
-- this input is put in, by whichever model, what stands there before others. Else a paragraph that
-- reads as before keeps what placed it, which only helps to find it; a summary, which is shown,
-- gives way to the page's own sentences.
create or replace function pgrag._with_enrichments(
    library_id bigint,
    documents pgrag.documents[],
    model text default null,
    prompt_version text default null
)
returns setof pgrag.documents
language sql
stable
set search_path from current
set enable_nestloop = off
set jit = off
as $$
    with inputs as materialized (
        select i.document_id, i.kind, i.input_hash
        from pgrag._enrichment_inputs(_with_enrichments.documents) as i
    ),
    current as materialized (
        select
            d.document_id,
            d.situation,
            case when d.extract is not null then d.content end as summary
        from unnest(_with_enrichments.documents) as s
        join pgrag.documents as d
            on d.library_id = _with_enrichments.library_id and d.document_id = s.document_id
        where (d.situation <> '' or d.extract is not null)
            and d.path = s.path
            and d.context = s.context
            and coalesce(d.extract, d.content) = coalesce(s.extract, s.content)
    ),
    written as (
        select distinct on (i.document_id) i.document_id, e.text
        from inputs as i
        join pgrag.enrichments as e
            on e.library_id = _with_enrichments.library_id
            and e.kind = i.kind
            and e.input_hash = i.input_hash
        left join current as c on c.document_id = i.document_id
        order by
            i.document_id,
            (
                e.model = _with_enrichments.model
                and e.prompt_version = _with_enrichments.prompt_version
            ) is true desc,
            (e.text = case i.kind when 'context' then c.situation else c.summary end) is true desc,
            e.created_at desc,
            e.model,
            e.prompt_version
    ),
    wanted as (
        select
            s.document_id,
            case
                when i.kind = 'context' then coalesce(w.text, c.situation, '')
                else ''
            end as situation,
            case when i.kind = 'summary' then w.text end as summary
        from unnest(_with_enrichments.documents) as s
        left join inputs as i on i.document_id = s.document_id
        left join written as w on w.document_id = s.document_id
        left join current as c on c.document_id = s.document_id
    ),
    lists as (
        select
            array_agg(w.document_id) as document_ids,
            array_agg(w.situation) as situations,
            array_agg(w.summary) as summaries
        from wanted as w
    )
    select r.*
    from lists as l
    cross join lateral pgrag._restated_documents(
        _with_enrichments.library_id, _with_enrichments.documents,
        l.document_ids, l.situations, l.summaries
    ) as r;
$$;

-- Whole pages of documents, some of them with another situation and another summary (null: their
-- own sentences). Those that have both already come back as they are.
create or replace function pgrag._restated_documents(
    library_id bigint,
    documents pgrag.documents[],
    document_ids bigint[],
    situations text[],
    summaries text[]
)
returns setof pgrag.documents
language sql
stable
set search_path from current
set enable_nestloop = off
set jit = off
as $$
    with placed as (
        select
            s,
            -- The first paragraph that is searched carries the words of links.
            s.covers > 0 and row_number() over (
                partition by s.page_id, s.covers > 0
                order by s.level desc, s.sort_order
            ) = 1 as carries_anchors
        from unnest(_restated_documents.documents) as s
    )
    select (n.document).*
    from (
        select
            case
                when w.document_id is null
                    or w.situation = (r.s).situation
                    and w.summary is not distinct from
                        case when (r.s).extract is not null then (r.s).content end
                then r.s
                else pgrag._restated(
                    r.s, w.situation, w.summary, p.title,
                    pgrag.relative_url(p.url, coalesce(v.source ->> 'base_url', '')),
                    case when r.carries_anchors then pgrag._anchor_text(p.anchor_texts) end
                )
            end as document
        from placed as r
        join pgrag.pages as p
            on p.library_id = _restated_documents.library_id and p.page_id = (r.s).page_id
        join pgrag.versions as v
            on v.library_id = p.library_id and v.version_id = p.version_id
        left join unnest(
            _restated_documents.document_ids, _restated_documents.situations,
            _restated_documents.summaries
        ) as w (document_id, situation, summary) on w.document_id = (r.s).document_id
        -- Made once, and not once for each of its columns.
        offset 0
    ) as n;
$$;

-- A document with another situation and another summary (null: its own sentences), and with all
-- that follows from them. The type "generated" marks what a model wrote and everybody reads.
create or replace function pgrag._restated(
    document pgrag.documents,
    situation text,
    summary text,
    title text,
    url text,
    anchor_text text
)
returns pgrag.documents
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    own_text text := coalesce(document.extract, document.content);
    own_types text[] := array_remove(document.types, 'generated');
    searched text;
begin
    document.situation := _restated.situation;
    document.extract := case when _restated.summary is not null then own_text end;
    document.content := coalesce(_restated.summary, own_text);
    document.types := case
        when _restated.summary is not null then own_types || '{generated}'::text[]
        else own_types
    end;
    searched := pgrag._searched_text(document.situation, document.context, document.content);
    document.text_hash := pgrag.text_hash(
        pgrag.embedding_text(_restated.title, _restated.url, document.path, searched)
    );
    if document.covers > 0 then
        document.search := pgrag.search_vector(
            document.language,
            _restated.title,
            array_remove(document.path, _restated.title),
            _restated.url,
            concat_ws(E'\n\n', searched, _restated.anchor_text),
            document.library_id,
            document.version_id
        );
    end if;
    return document;
end;
$$;

-- Documents that are stored already, with another text: statistics, vectors and the ranks of their
-- pages move with them.
create or replace function pgrag._rewrite_documents(
    library_id bigint,
    documents pgrag.documents[],
    settings jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
declare
    document_ids bigint[];
    page_ids bigint[];
begin
    select array_agg(d.document_id), array_agg(distinct d.page_id)
    into document_ids, page_ids
    from unnest(_rewrite_documents.documents) as d;
    if document_ids is null then
        return;
    end if;
    perform pgrag._forget_documents(
        _rewrite_documents.library_id, document_ids, _rewrite_documents.settings
    );
    perform pgrag._forget_pages(_rewrite_documents.library_id, page_ids);
    perform pgrag._write_documents(
        _rewrite_documents.library_id, _rewrite_documents.documents, document_ids,
        _rewrite_documents.settings
    );
    perform pgrag._hand_on_embeddings(_rewrite_documents.library_id, document_ids);
    perform pgrag._rank_pages(
        _rewrite_documents.library_id, page_ids, _rewrite_documents.settings
    );
end;
$$;
