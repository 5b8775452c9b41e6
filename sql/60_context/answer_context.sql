-- Everything that an answer needs but the model that writes it: what kind of question it is, the
-- passages that may answer it, numbered, and the messages to send. One request serves all searches.
create or replace function pgrag.answer_context(
    question text,
    library text default null,
    version text default null,
    intent text default 'auto',
    token_budget integer default 4000,
    match_count integer default 10,
    filters jsonb default null,
    alpha double precision default null,
    levels integer[] default null,
    query_embedding halfvec default null,
    model text default null,
    expand boolean default true,
    inject_types text[] default null,
    template text default null,
    inject_count integer default 3,
    inject_share double precision default 0.5,
    min_score double precision default 0,
    score_share double precision default 0.5,
    expansion_threshold double precision default 0.3,
    max_documents_to_expand integer default 3,
    max_chunks_per_document integer default 20,
    expansion_share double precision default 0.8,
    parents boolean default false,
    max_per_page integer default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    query_expansion text default null,
    graph boolean default null
)
returns setof pgrag.answer_material
language plpgsql
stable
parallel restricted
rows 1
set search_path from current
-- As in pgrag.search: planning anew for each question takes longer than most of the steps.
set plan_cache_mode = force_generic_plan
as $$
declare
    wanted_intent constant text := coalesce(
        lower(nullif(btrim(answer_context.intent), '')), 'auto'
    );
    started timestamptz := clock_timestamp();
    request pgrag.search_request;
    listing pgrag.listing;
    hits pgrag.ranked_hit[];
    passages pgrag.passage[];
    material pgrag.answer_material;
begin
    perform pgrag._check_answer_arguments(token_budget, inject_count, inject_share, score_share);
    request := pgrag._search_request(
        query => question,
        library => library,
        version => version,
        match_count => match_count,
        filters => filters,
        alpha => alpha,
        min_score => min_score,
        levels => levels,
        max_per_page => max_per_page,
        query_embedding => query_embedding,
        model => model,
        intent => wanted_intent,
        -- What is cited is a passage, also where a search would list pages.
        unit => 'document',
        hierarchy => hierarchy,
        mmr_lambda => mmr_lambda,
        query_expansion => query_expansion,
        graph => graph
    );
    material.intent := request.intent ->> 'intent';
    material.query_type := request.intent ->> 'query_type';
    material.rule := coalesce(request.intent ->> 'rule', request.intent ->> 'type_rule');
    material.decided_by := case
        when wanted_intent <> 'auto' then 'argument'
        when material.rule is not null then 'rule'
        else 'default'
    end;
    material.strategy := pgrag._answer_strategy(request.intent, inject_types, template);
    material.timings := pgrag._timed('{}', 'prepare', started);

    listing := pgrag._list_hits(request);
    hits := pgrag._near_the_best(listing.hits, score_share, request.graph is not null);
    material.timings := material.timings || coalesce(listing.timings, '{}');
    started := clock_timestamp();
    passages := array(
        select p
        from pgrag._injected_hits(
            request, hits, material.strategy -> 'inject_types', inject_count, inject_share
        ) as i
        cross join lateral pgrag._passages(
            i.library_id, array[i.document_id], '{injected}', null, array[i.score]
        ) as p
    );
    material.timings := pgrag._timed(material.timings, 'inject', started);

    started := clock_timestamp();
    passages := passages || array(
        select g
        from pgrag._gather(
            array(select h.document_id from unnest(hits) as h),
            array(select h.score from unnest(hits) as h),
            case when expand then expansion_threshold else 'infinity' end,
            max_documents_to_expand, max_chunks_per_document, expansion_share, parents, 0
        ) as g
    );
    material.sources := pgrag._answer_sources(passages, token_budget);
    material.messages := pgrag.answer_messages(
        question, material.sources, material.strategy ->> 'template'
    );
    material.tokens := (
        select sum(ceil(octet_length(m ->> 'content') / 4.0))
        from jsonb_array_elements(material.messages) as m
    );
    material.timings := pgrag._timed(material.timings, 'assemble', started);
    return next material;
end;
$$;

comment on function pgrag.answer_context(text, text, text, text, integer, integer, jsonb, double precision, integer[], halfvec, text, boolean, text[], text, integer, double precision, double precision, double precision, double precision, integer, integer, double precision, boolean, integer, text, double precision, text, boolean) is
'Everything that an answer needs but the language model: exactly one row. The question is searched
as by pgrag.search, with what its intent chooses (intent: "auto", the name of an intent or query
type, or "off"); hits below the share score_share of the best score are left out; the best pages
are expanded as by pgrag.context (expand, expansion_threshold, max_documents_to_expand,
max_chunks_per_document, expansion_share, parents). A second search brings in up to inject_count
documents of pages of the types inject_types (null: those of the intent; none: no second search),
one a page, that reach the share inject_share of the best score and are no hits themselves.
sources: what of all this fits into token_budget (a token is counted as 4 bytes of UTF-8), whole
documents in reading order, as objects with number, from 1, document_id, page_id, key, library,
version, title, url, anchor, path, heading, type, level, score, relation (hit, injected, parent or
expansion), tokens and content; [] where nothing was found. messages: those of the template (null:
that of the intent, else "default") with the question and the sources in the places of {question}
and {sources}, ready for an OpenAI-compatible endpoint; in each source, text from documents stands
between <source …> and </source> and cannot leave it. tokens: of all messages. decided_by:
argument, rule (its name is in rule) or default. strategy: all that the intent chose. timings:
milliseconds by step. Errors: PGR01 and those of pgrag.search.';

create or replace function pgrag._check_answer_arguments(
    token_budget integer,
    inject_count integer,
    inject_share double precision,
    score_share double precision
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    complaint text;
begin
    complaint := case
        when (token_budget >= 1) is not true
        then format(
            'token_budget must be at least 1, got %s.', coalesce(token_budget::text, 'null')
        )
        when (inject_count between 0 and 100) is not true
        then format(
            'inject_count must be 0 to 100, got %s.', coalesce(inject_count::text, 'null')
        )
        when (inject_share between 0 and 1 and score_share between 0 and 1) is not true
        then format(
            'inject_share and score_share must be from 0 to 1, got %s and %s.',
            coalesce(inject_share::text, 'null'), coalesce(score_share::text, 'null')
        )
    end;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;
end;
$$;

-- What the search was told, with what only an answer wants to know. Without an intent it is that
-- of a plain search.
create or replace function pgrag._answer_strategy(
    found jsonb,
    inject_types text[],
    template text
)
returns jsonb
language sql
stable
parallel safe
set search_path from current
as $$
    select coalesce(_answer_strategy.found, '{}') || jsonb_build_object(
        'unit', 'document',
        'inject_types',
        to_jsonb(coalesce(_answer_strategy.inject_types, i.inject_types, '{}')),
        'template',
        coalesce(lower(nullif(btrim(_answer_strategy.template), '')), i.template, 'default')
    )
    from (select) as always
    left join pgrag.intents as i on i.name = _answer_strategy.found ->> 'intent';
$$;
