create or replace function pgrag.answer_context(
    question text,
    library text default null,
    top_k integer default 20,
    version text default null,
    filters jsonb default null,
    intent text default 'auto',
    token_budget integer default 4000,
    expand boolean default null,
    inject_types text[] default null,
    inject_count integer default null,
    template text default null,
    score_share double precision default null,
    expansion_threshold double precision default null,
    max_documents_to_expand integer default null,
    max_chunks_per_document integer default null,
    expansion_share double precision default null,
    parents boolean default null,
    query_embedding halfvec default null,
    options jsonb default '{}'
)
returns setof pgrag.answer_material
language plpgsql
stable
parallel unsafe
rows 1
set search_path from current
-- As in pgrag.search: planning takes longer than most steps of the execution.
set plan_cache_mode = force_generic_plan
as $$
declare
    intent_name constant text := coalesce(lower(nullif(btrim(answer_context.intent), '')), 'auto');
    document constant jsonb := _pgrag.search_document('answer_context', options, (
        select to_jsonb(a)
        from (
            select
                library, version, top_k, filters, intent_name as intent, token_budget, expand,
                parents, template, inject_types, inject_count, score_share, expansion_share,
                expansion_threshold, max_documents_to_expand, max_chunks_per_document
        ) as a
    ));
    started timestamptz := clock_timestamp();
    request _pgrag.search_request;
    in_force jsonb;
    listing _pgrag.listing;
    hits _pgrag.ranked_hit[];
    passages pgrag.passage[];
    material pgrag.answer_material;
    blocks text;
    notes text[];
begin
    request := _pgrag.make_request(
        question,
        -- An answer cites passages, even if the intent would list pages.
        document || jsonb_build_object('intent', intent_name, 'unit', 'document'),
        query_embedding
    );
    in_force := _pgrag.reading_arguments(document, request);
    material.intent := request.intent ->> 'intent';
    material.query_type := request.intent ->> 'query_type';
    material.rule := coalesce(request.intent ->> 'rule', request.intent ->> 'type_rule');
    material.decided_by := case
        when intent_name <> 'auto' then 'argument'
        when material.rule is not null then 'rule'
        else 'default'
    end;
    -- The strategy of the search, with the fields that only an answer needs. Without an intent it
    -- is that of a plain search.
    select coalesce(request.intent, '{}') || jsonb_build_object(
        'unit', 'document',
        'inject_types',
        coalesce(in_force -> 'inject_types', '[]'),
        'template',
        coalesce(lower(nullif(btrim(answer_context.template), '')), i.template, 'default')
    )
    into material.strategy
    from (select) as always
    left join pgrag.intents as i on i.name = request.intent ->> 'intent';
    material.versions := coalesce(
        (
            select jsonb_agg(
                jsonb_build_object('library', l.name, 'version', v.label, 'reason', u.reason)
                order by u.number
            )
            from unnest((request.target).version_ids, request.version_reasons)
                with ordinality as u (version_id, reason, number)
            join pgrag.versions as v
                on v.library_id = any ((request.target).library_ids)
                and v.version_id = u.version_id
            join pgrag.libraries as l on l.library_id = v.library_id
        ),
        '[]'
    );
    material.timings := _pgrag.timed('{}', 'prepare', clock_timestamp() - started);

    listing := _pgrag.list_hits(request);
    hits := _pgrag.near_the_best(request, listing.hits, in_force);
    material.timings := material.timings || coalesce(listing.timings, '{}');
    material.confidence := (select max(h.confidence) from unnest(hits) as h);
    material.is_answerable := hits <> '{}' and (
        num_nonnulls(request.min_confidence, request.reranked) > 0
        or (material.confidence < _pgrag.no_answer()) is not true
    );
    perform _pgrag.note_no_match(hits, request);
    started := clock_timestamp();
    passages := _pgrag.injected_passages(request, hits, in_force);
    material.timings := _pgrag.timed(material.timings, 'inject', clock_timestamp() - started);

    started := clock_timestamp();
    passages := array(select g from _pgrag.gather(request, hits, passages, in_force) as g);
    select coalesce(jsonb_agg(s.source order by s.number), '[]'),
        string_agg(s.block, E'\n' order by s.number)
    into material.sources, blocks
    from _pgrag.answer_sources(passages, hits, (in_force ->> 'token_budget')::integer) as s;
    material.messages := _pgrag.filled_template(
        question, blocks, material.strategy ->> 'template'
    );
    -- Where the version of the sources is not the one requested, and what that version lacks.
    notes := request.version_notes || array(
        select format('%s %s: %s.', v.library, v.version, v.reason)
        from jsonb_to_recordset(material.versions) as v (library text, version text, reason text)
        where v.reason like '%is not indexed%'
    );
    if notes <> '{}' then
        material.messages := jsonb_set(
            material.messages,
            '{1,content}',
            to_jsonb(
                (material.messages #>> '{1,content}')
                || E'\n\nAbout the versions of the documentation:\n- '
                || array_to_string(notes, E'\n- ')
            )
        );
    end if;
    material.tokens := (
        select sum(ceil(octet_length(m ->> 'content') / 4.0))
        from jsonb_array_elements(material.messages) as m
    );
    material.timings := _pgrag.timed(material.timings, 'assemble', clock_timestamp() - started);
    return next material;
end;
$$;

comment on function pgrag.answer_context is
'Everything for an answer except the language model, in exactly one row. The question is searched as
by pgrag.search, with the strategy of its intent (intent: "auto", the name of an intent or query
type, or "off"); pages whose best hit is below the share score_share of the best score are left out;
if the hits leave a part of token_budget, the best pages are expanded as by pgrag.context (expand,
expansion_threshold, max_documents_to_expand, max_chunks_per_document, expansion_share, parents).
confidence: the largest of a hit (see search). is_answerable: false if there is no hit, or if
confidence is below 0.05 and min_confidence null: then a language model need not be asked. A second
search injects up to inject_count passages from pages of the types inject_types (null: those of the
intent; empty: no second search), the best of those that have no hit, one per page. The intent also
sets the other arguments that its entry names. sources: the passages that fit into token_budget (a
token is counted as 4 bytes of UTF-8), whole and in reading order, as objects with number (from 1),
document_id, page_id, key, library, version, title, url, anchor, path, heading, type, level, score,
hybrid_score, confidence, keyword_score, semantic_score, keyword_rank and semantic_rank (of a hit),
relation (hit, injected, parent or expansion), tokens and content; [] if nothing was found.
messages: the template (null: that of the intent, else "default") with {question} and {sources}
filled in, ready for an OpenAI-compatible endpoint; the text of a source is quoted between <source
…> and </source> and cannot end the quotation; what is to be known about the versions (see search)
follows. tokens: of all messages. decided_by: argument, rule (its name is in rule) or default.
strategy: all that the intent chose. timings: milliseconds by step. Errors: PGR01 and those of
pgrag.search.';
