-- The arguments of a search, checked, and everything about the query that does not depend on how
-- deep the arms are read.
create or replace function pgrag._search_request(
    query text,
    library text default null,
    version text default null,
    match_count integer default 10,
    filters jsonb default null,
    alpha double precision default null,
    fusion text default 'absolute',
    min_score double precision default 0,
    levels integer[] default null,
    max_per_page integer default null,
    after text default null,
    query_embedding halfvec default null,
    model text default null,
    page_evidence double precision default null,
    candidate_count integer default 100,
    rrf_k integer default 60,
    rrf_weights double precision[] default '{1, 1}',
    intent text default null,
    unit text default null,
    aggregate text default null,
    hierarchy text default null,
    mmr_lambda double precision default null,
    query_expansion text default null,
    graph boolean default null
)
returns pgrag.search_request
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    request pgrag.search_request;
    asked record;
    parsed record;
    scope record;
    wanted_version text;
begin
    perform pgrag._check_arguments(
        query, match_count, alpha, fusion, levels, max_per_page, page_evidence, candidate_count,
        rrf_k, rrf_weights
    );
    perform pgrag._check_order(unit, aggregate, hierarchy, mmr_lambda, query_expansion);
    select q.* into asked from pgrag.parse_query(query) as q;
    select p.* into parsed from pgrag.parse_search_text(asked.words) as p;
    if parsed.words !~ '\S' and asked.filters is null then
        raise exception 'The query % has no words to search for.', quote_nullable(left(query, 100))
            using errcode = 'PGR01',
                hint = 'Give at least one word that is not excluded by "-", or a filter.';
    end if;
    wanted_version := pgrag._wanted_version(version, filters, asked.filters);

    select
        coalesce(array_agg(distinct s.library_id), '{}') as library_ids,
        coalesce(array_agg(s.version_id), '{}') as version_ids,
        coalesce(sum(s.document_count), 0)::bigint as document_count,
        min((pgrag.effective_settings(s.settings) ->> 'exact_limit')::integer) as exact_limit,
        -- Only libraries that agree have a say; one that says nothing wants the default.
        case when count(distinct coalesce(s.settings ->> 'intent', 'off')) = 1
            then min(s.settings ->> 'intent') end as intent,
        case when count(distinct coalesce(s.settings ->> 'query_expansion', 'none')) = 1
            then min(s.settings ->> 'query_expansion') end as query_expansion,
        case when count(distinct coalesce(s.settings -> 'graph', '{}')) = 1
            then min(s.settings ->> 'graph')::jsonb end as graph
    into scope
    from pgrag.search_scope(
        pgrag._wanted_libraries(library, filters, asked.filters), wanted_version
    ) as s;

    request.query := query;
    request.words := parsed.words;
    request.query_filters := asked.filters;
    request.intent := pgrag._strategy(query, coalesce(intent, scope.intent, 'off'));
    request.fusion := fusion;
    request.rrf_k := rrf_k;
    request.rrf_weights := rrf_weights;
    request.min_score := coalesce(min_score, 0);
    request.match_count := match_count;
    request.max_per_page := max_per_page;
    request.unit := coalesce(unit, request.intent ->> 'unit', 'document');
    request.aggregate := coalesce(aggregate, request.intent ->> 'aggregate', 'max');
    request.hierarchy := coalesce(hierarchy, request.intent ->> 'hierarchy', 'none');
    request.mmr_lambda := nullif(mmr_lambda, 1);
    request.query_expansion := coalesce(query_expansion, scope.query_expansion, 'none');
    request.graph := pgrag._graph_settings(graph, scope.graph);
    request.collapse := levels is null;
    request.candidate_count := greatest(candidate_count, match_count);
    request.exact_limit := scope.exact_limit;
    request := pgrag._continued(request, after);

    request.target := pgrag._search_target(
        scope.library_ids,
        scope.version_ids,
        scope.document_count,
        wanted_version is not distinct from '*',
        (
            select bit_or(1 << l)
            from unnest(
                coalesce(levels, pgrag._integers(request.intent -> 'levels'), '{1, 2}')
            ) as l
        ),
        pgrag._conjunction(filters, asked.filters),
        parsed.required,
        parsed.excluded
    );
    if request.words = '' then
        return request;
    end if;
    request.terms := array(
        select t from pgrag.query_terms(parsed.words, scope.library_ids) as t
    );
    if request.query_expansion <> 'none' then
        request.terms := pgrag._expand_terms(
            request.terms, request.target, parsed.words, request.query_expansion
        );
    end if;
    request.queries := pgrag._library_queries(
        parsed.words, scope.library_ids, request.terms,
        alpha, page_evidence, model, query_embedding, request.intent
    );
    return request;
end;
$$;

-- What kind of question it is decides what was left open.
create or replace function pgrag._strategy(
    query text,
    intent text
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    strategy jsonb;
    type_name text;
begin
    if intent = 'auto' then
        select to_jsonb(d) into strategy from pgrag.detect_intent(query) as d;
    elsif intent <> 'off' then
        -- The name of a query type alone stands for a question of that type; an intent of the
        -- same name has it as its usual one.
        select t.name
        into type_name
        from pgrag.query_types as t
        where t.name = lower(intent)
            and not exists (
                select from pgrag.intents as i where i.name = upper(btrim(_strategy.intent))
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

-- What the graph is searched with; null: without it.
create or replace function pgrag._graph_settings(
    graph boolean,
    settings jsonb
)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when coalesce(_graph_settings.graph, (g.settings ->> 'search')::boolean)
        then g.settings - 'search'
    end
    from (
        select pgrag.default_settings() -> 'graph' || coalesce(_graph_settings.settings, '{}')
            as settings
    ) as g;
$$;

create or replace function pgrag._integers(
    list jsonb
)
returns integer[]
language sql
immutable
parallel safe
as $$
    select pg_catalog.array_agg(e.value::integer)
    from pg_catalog.jsonb_array_elements_text(
        case when pg_catalog.jsonb_typeof(_integers.list) = 'array' then _integers.list end
    ) as e (value);
$$;

-- A cursor says where the list goes on: after a score and an id, or, where the order is another
-- one, after so many hits; and how deep the list was read that it came from.
create or replace function pgrag._continued(
    request pgrag.search_request,
    after text
)
returns pgrag.search_request
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    parts text[];
begin
    if after is null then
        return request;
    end if;
    if pgrag._is_rearranged(request) and request.words <> '' then
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

create or replace function pgrag._check_order(
    unit text,
    aggregate text,
    hierarchy text,
    mmr_lambda double precision,
    query_expansion text
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
        when unit not in ('document', 'page')
        then format('unit must be document or page, got %L.', unit)
        when aggregate not in ('max', 'mean', 'rrf')
        then format('aggregate must be max, mean or rrf, got %L.', aggregate)
        when hierarchy not in ('none', 'depth', 'breadth', 'overview')
        then format('hierarchy must be none, depth, breadth or overview, got %L.', hierarchy)
        when not mmr_lambda between 0 and 1
        then format('mmr_lambda must be 0 to 1, got %s.', mmr_lambda)
        when query_expansion not in ('none', 'synonyms', 'feedback', 'both')
        then format(
            'query_expansion must be none, synonyms, feedback or both, got %L.', query_expansion
        )
    end;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;
end;
$$;

create or replace function pgrag._check_arguments(
    query text,
    match_count integer,
    alpha double precision,
    fusion text,
    levels integer[],
    max_per_page integer,
    page_evidence double precision,
    candidate_count integer,
    rrf_k integer,
    rrf_weights double precision[]
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
        when coalesce(query, '') !~ '\S' then 'The query is empty.'
        when match_count is null or match_count not between 1 and 1000
        then format('match_count must be 1 to 1000, got %s.', match_count)
        when alpha not between 0 and 1 then format('alpha must be 0 to 1, got %s.', alpha)
        when page_evidence not between 0 and 1
        then format('page_evidence must be 0 to 1, got %s.', page_evidence)
        when fusion is null or fusion not in ('absolute', 'rrf')
        then format('fusion must be absolute or rrf, got %L.', fusion)
        when not levels <@ '{0, 1, 2}' or cardinality(levels) = 0
        then format('levels must be of 0, 1 and 2, got %s.', levels)
        when max_per_page < 1 then format('max_per_page must be at least 1, got %s.', max_per_page)
        when candidate_count is null or candidate_count not between 1 and 20000
        then format('candidate_count must be 1 to 20000, got %s.', candidate_count)
        when rrf_k is null or rrf_k < 0 then format('rrf_k must be at least 0, got %s.', rrf_k)
        when cardinality(rrf_weights) is distinct from 2
            or (rrf_weights[1] between 0 and 1000 and rrf_weights[2] between 0 and 1000)
                is not true
        then format('rrf_weights must be two numbers of 0 to 1000, got %s.', rrf_weights)
    end;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;
end;
$$;
