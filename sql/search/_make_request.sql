-- Every search function, whichever interface calls it, builds its request here, from one object of
-- arguments. Arguments that are null or missing get their values here: from the intent of the query
-- or the settings of the libraries, else the defaults.
create or replace function _pgrag.make_request(
    query text,
    options jsonb,
    query_embedding halfvec default null,
    needs_words boolean default true
)
returns _pgrag.search_request
language plpgsql
stable
parallel safe
as $$
declare
    arguments record;
    request _pgrag.search_request;
    asked record;
    parsed record;
    scope record;
    named_ids bigint[];
    named_wishes text[];
    version_label text;
    note text;
    library_names text[];
    graph_settings jsonb;
    level integer;
    covers integer := 0;
    searched text;
    original_terms pgrag.query_term[];
    defaults constant jsonb := '{
        "fusion": "absolute", "rrf_k": 60, "rrf_weights": [1, 1], "candidate_count": 80,
        "top_k": 10, "min_score": 0, "unit": "document", "aggregate": "max", "hierarchy": "none",
        "query_expansion": "none", "snippets": false, "explain": false, "history": false
    }';
    mode constant text := coalesce(options ->> 'mode', 'hybrid');
begin
    if needs_words and coalesce(query, '') !~ '\S' then
        raise exception 'The query is empty.' using errcode = 'PGR01';
    end if;
    select o.*
    into arguments
    from jsonb_to_record(options) as o (
        library text,
        version text,
        filters jsonb,
        alpha double precision,
        levels integer[],
        exclude text[],
        changed_since text,
        after text,
        model text,
        page_evidence double precision,
        intent text,
        graph boolean
    );
    asked := pgrag.parse_query(query);
    parsed := pgrag.parse_search_text(asked.words);
    if needs_words and parsed.words !~ '\S' and asked.filters is null then
        raise exception 'The query % has no words to search for.', quote_nullable(left(query, 100))
            using errcode = 'PGR01',
                hint = 'Give at least one word that is not excluded by "-", or a filter.';
    end if;
    version_label := _pgrag.wanted_version(arguments.version, arguments.filters, asked.filters);
    library_names := _pgrag.wanted_libraries(arguments.library, arguments.filters, asked.filters);

    select
        coalesce(array_agg(distinct (s.library).library_id), '{}') as library_ids,
        array_agg(distinct s.library) as libraries,
        coalesce(array_agg(s.version_id order by s.place), '{}') as version_ids,
        array_agg(s.reason order by s.place) as version_reasons,
        coalesce(sum(s.document_count), 0)::bigint as document_count,
        array_agg(distinct (s.library).library_id) filter (
            where (s.library).own_vector_index
        ) as own_index_ids,
        min(_pgrag.setting((s.library).settings, 'exact_limit')::integer) as exact_limit,
        -- If libraries disagree, the default applies; a missing setting counts as the default.
        case when min(v.intent) = max(v.intent) then min(v.intent) end as intent,
        case when min(v.expansion) = max(v.expansion) then min(v.expansion) end as query_expansion,
        case when min(v.aggregate) = max(v.aggregate) then min(v.aggregate) end as aggregate,
        case when min(v.graph) = max(v.graph) then min(v.graph)::jsonb end as graph
    into scope
    from _pgrag.versions_in_scope(library_names, version_label) as s
    cross join lateral (
        select
            coalesce((s.library).settings ->> 'intent', 'off') as intent,
            coalesce((s.library).settings ->> 'query_expansion', 'none') as expansion,
            coalesce((s.library).settings ->> 'aggregate', 'max') as aggregate,
            coalesce((s.library).settings ->> 'graph', '{}') as graph
    ) as v;
    if cardinality(scope.library_ids) < cardinality(library_names) then
        perform _pgrag.check_versions(library_names, version_label);
    end if;

    -- Explicit versions win; most queries have nothing that could name one.
    if version_label is null and _pgrag.may_name_version(asked.words) then
        select n.version_ids, n.version_reasons, n.named_ids, n.wishes, n.notes
        into scope.version_ids, scope.version_reasons, named_ids, named_wishes, request.notes
        from _pgrag.with_named_versions(asked.words, scope.version_ids, scope.version_reasons) as n;
        if named_ids <> '{}' then
            scope.document_count := (
                select sum(v.document_count)
                from pgrag.versions as v
                where v.library_id = any (scope.library_ids)
                    and v.version_id = any (scope.version_ids)
            );
        end if;
    end if;

    if asked.filters @? '$.**.tags.all' then
        perform _pgrag.notice_unknown_tags(asked.filters, scope.library_ids);
    end if;
    request.intent := _pgrag.strategy_for(query, coalesce(arguments.intent, scope.intent, 'off'));
    request := jsonb_populate_record(
        request,
        defaults
            || jsonb_strip_nulls(jsonb_build_object(
                'unit', request.intent -> 'unit',
                'aggregate', coalesce(request.intent ->> 'aggregate', scope.aggregate),
                'hierarchy', request.intent -> 'hierarchy',
                'query_expansion', scope.query_expansion
            ))
            || coalesce(request.intent -> 'arguments', '{}') - 'graph'
            || jsonb_strip_nulls(options - '{intent, graph}'::text[])
    );
    request.query := query;
    request.words := case when parsed.words ~ '\S' then parsed.words else '' end;
    request.query_filters := asked.filters;
    request.version_reasons := scope.version_reasons;
    request.mmr_lambda := nullif(request.mmr_lambda, 1);
    graph_settings := pgrag.default_settings() -> 'graph'
        || coalesce(scope.graph, '{}')
        || case jsonb_typeof(request.intent #> '{arguments,graph}')
            when 'object' then request.intent #> '{arguments,graph}'
            when 'boolean' then jsonb_build_object('search', request.intent #> '{arguments,graph}')
            else '{}'
        end;
    request.graph := case
        when coalesce(arguments.graph, mode = 'hybrid' and (graph_settings ->> 'search')::boolean)
        then graph_settings - 'search'
    end;
    if request.reranked is not null then
        perform _pgrag.check_reranked(request.reranked, arguments.after);
    end if;
    request.collapse := arguments.levels is null;
    request.candidate_count := greatest(request.candidate_count, request.top_k);
    request.exact_limit := scope.exact_limit;
    if arguments.after is not null then
        request := _pgrag.continued(request, arguments.after);
    end if;

    foreach level in array
        coalesce(arguments.levels, _pgrag.integers(request.intent -> 'levels'), '{1, 2}')
    loop
        covers := covers | (1 << level);
    end loop;
    request.target := _pgrag.make_target(
        scope.library_ids,
        scope.version_ids,
        scope.document_count,
        version_label is not distinct from '*',
        covers,
        _pgrag.conjunction(arguments.filters, asked.filters),
        case when options ->> 'phrases' = 'words' then '{}' else parsed.required end,
        parsed.excluded,
        scope.own_index_ids,
        request.unit
    );
    if arguments.changed_since is not null then
        request.target := _pgrag.changed_target(request.target, arguments.changed_since);
    end if;
    if arguments.exclude is not null then
        request.target.denied_documents := _pgrag.excluded_documents(arguments.exclude)
            || (request.target).denied_documents;
    end if;
    if request.words = '' then
        return request;
    end if;
    searched := pgrag.searchable_text(
        _pgrag.without_versions(parsed.words, named_wishes), camel_case => false
    );
    original_terms := array(
        select t from _pgrag.terms_of(searched, scope.libraries) as t
    );
    if version_label <> '*' and cardinality(scope.version_ids) = 1 then
        named_ids := scope.version_ids;
    end if;
    if named_ids <> '{}' then
        request.notes := request.notes || array(
            select n.note
            from unnest(named_ids) as v (id)
            cross join lateral _pgrag.lacking_words(parsed.words, original_terms, v.id) as n (note)
        );
    end if;
    foreach note in array coalesce(request.notes, '{}') loop
        raise notice '%', note;
    end loop;
    request.terms := original_terms;
    if request.query_expansion <> 'none' then
        request.terms := _pgrag.expand_terms(
            original_terms, request.target, parsed.words, request.query_expansion
        );
    end if;
    request.queries := _pgrag.library_queries(
        parsed.words, scope.libraries, original_terms, request.terms,
        -- A single retriever has the whole score; above, it ignores the library's setting graph.
        case mode when 'keyword' then 0 when 'semantic' then 1 else arguments.alpha end,
        arguments.page_evidence, arguments.model, query_embedding, request.intent,
        -- A search by vectors alone reads no page.
        case
            when mode <> 'semantic'
            then _pgrag.type_weights(query, _pgrag.conjunction(arguments.filters, asked.filters))
        end
    );
    return request;
end;
$$;

-- The intent of the query fills in the arguments that the caller left open.
create or replace function _pgrag.strategy_for(
    query text,
    intent text
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    strategy jsonb;
    type_name text;
begin
    if intent = 'auto' then
        select to_jsonb(d) into strategy from pgrag.detect_intent(query) as d;
    elsif intent <> 'off' then
        -- The name of a query type stands for a SEMANTIC question of that type, unless an intent
        -- has the same name: that intent uses the type by default.
        select t.name
        into type_name
        from pgrag.query_types as t
        where t.name = lower(intent)
            and not exists (
                select from pgrag.intents as i where i.name = upper(btrim(strategy_for.intent))
            );
        select to_jsonb(s)
        into strategy
        from pgrag.strategy(
            case when type_name is null then intent else 'SEMANTIC' end, type_name
        ) as s;
    end if;
    return strategy;
end;
$$;

-- A cursor names the position after which the list continues (a score and an id or, in a
-- rearranged list, a number of hits) and the depth of the list it came from.
create or replace function _pgrag.continued(
    request _pgrag.search_request,
    after text
)
returns _pgrag.search_request
language plpgsql
immutable
parallel safe
as $$
declare
    parts text[];
begin
    if _pgrag.is_rearranged(request) and request.words <> '' then
        parts := regexp_match(after, '^p(\d{1,5}):(\d{1,5})$');
        if parts[2]::integer between 1 and 20000 then
            request.after_place := parts[1];
            request.candidate_count := parts[2];
            return request;
        end if;
    else
        parts := regexp_match(
            after, '^(\d{1,4}(?:\.\d{1,30})?(?:e-\d{1,2})?):(\d{1,18}):(\d{1,5}):(\d{1,5})$'
        );
        if parts[3]::integer between 1 and 20000
            and parts[4]::integer between 1 and parts[3]::integer
        then
            request.after_score := parts[1];
            request.after_id := parts[2];
            request.candidate_count := parts[3];
            request.start_depth := parts[4];
            return request;
        end if;
    end if;
    raise exception 'The cursor % was not made by a search like this.',
        quote_literal(left(after, 100))
        using errcode = 'PGR07',
            hint = 'Pass the cursor of the last hit as it is, and the same arguments.';
end;
$$;

-- "42" is a passage, "page:7" all passages of a page. An unknown id excludes nothing.
create or replace function _pgrag.excluded_documents(
    items text[]
)
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    wrong text;
begin
    select i into wrong
    from unnest(items) as i
    where (i ~ '^(page:)?[0-9]{1,18}$') is not true
    limit 1;
    if found then
        raise exception 'exclude cannot hold %.', quote_nullable(left(wrong, 100))
            using errcode = 'PGR01',
                hint = 'An item is the id of a document, such as 42, or of a page: page:7.';
    end if;
    return array(
        select i::bigint from unnest(items) as i where i !~ '^page:'
        union
        select d.document_id
        from unnest(items) as i
        join pgrag.pages as p on p.page_id = substring(i from '^page:(.+)')::bigint
        join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
    );
end;
$$;
