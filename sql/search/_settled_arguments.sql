-- Arguments that the caller leaves open get their values from the intent of the query, else from
-- the settings of the libraries, else the defaults.
create or replace function _pgrag.settled_arguments(
    query text,
    words text,
    options jsonb,
    settings jsonb
)
returns _pgrag.search_request
language plpgsql
stable
parallel safe
as $$
declare
    request _pgrag.search_request;
    graph jsonb;
    of_intent jsonb;
    cursor_parts text[];
    defaults constant jsonb := '{
        "fusion": "absolute", "rrf_k": 60, "rrf_weights": [1, 1], "candidate_count": 64,
        "top_k": 10, "min_score": 0, "unit": "document", "aggregate": "max", "hierarchy": "none",
        "query_expansion": "none", "prefix": false, "snippets": false, "explain": false,
        "history": false
    }';
begin
    request.intent := _pgrag.strategy_for(
        query, coalesce(options ->> 'intent', settings ->> 'intent', 'off')
    );
    of_intent := coalesce(request.intent -> 'arguments', '{}');
    request := jsonb_populate_record(
        request,
        defaults
            || jsonb_strip_nulls(jsonb_build_object(
                'unit', request.intent -> 'unit',
                'aggregate', coalesce(request.intent ->> 'aggregate', settings ->> 'aggregate'),
                'hierarchy', request.intent -> 'hierarchy',
                'query_expansion', settings -> 'query_expansion'
            ))
            || of_intent - 'graph'::text
            || jsonb_strip_nulls(options - '{intent, graph}'::text[])
    );
    if request.fusion = 'rrf' and options ->> 'alpha' is not null then
        -- Half of the score each is a weight of 1 each.
        request.rrf_weights := array[2 - 2 * alpha, 2 * alpha]
        from (select (options ->> 'alpha')::double precision as alpha) as a;
    end if;
    perform _pgrag.refuse_idle_arguments(options, request);
    request.query := query;
    request.words := case when words ~ '\S' then words else '' end;
    -- Lists by pages and the hierarchy have their own rules for the further hits of a page.
    request.page_decay := coalesce(
        request.page_decay,
        case
            when request.unit = 'page'
                or request.hierarchy <> 'none'
                or request.page_hits is not null
            then 1
            else 0.97
        end
    );
    request.mmr_lambda := nullif(request.mmr_lambda, 1);
    request.candidate_count := greatest(request.candidate_count, request.top_k);
    request.collapse := options ->> 'levels' is null;
    request.keeps_repeats := false;
    graph := _pgrag.default_settings() -> 'graph'
        || coalesce(settings -> 'graph', '{}')
        || case jsonb_typeof(of_intent -> 'graph')
            when 'object' then of_intent -> 'graph'
            when 'boolean' then jsonb_build_object('search', of_intent -> 'graph')
            else '{}'
        end;
    if coalesce(
        (options ->> 'graph')::boolean,
        -- A single retriever ignores the setting.
        coalesce(options ->> 'mode', 'hybrid') = 'hybrid' and (graph ->> 'search')::boolean
    )
    then
        request.graph := graph - 'search';
    end if;
    if request.reranked is not null then
        if jsonb_typeof(request.reranked) <> 'object' or exists (
            select
            from jsonb_each(
                case jsonb_typeof(request.reranked) when 'object' then request.reranked end
            ) as r
            -- No expression: planning would compile it in every session, which keeps only 32.
            where translate(r.key, '0123456789', '') <> ''
                or length(r.key) not between 1 and 18
                or case jsonb_typeof(r.value)
                    when 'number' then r.value::numeric not between 0 and 1
                    else true
                end
        )
        then
            raise exception 'reranked must be scores from 0 to 1 by document_id, got %.',
                left(request.reranked::text, 100)
                using errcode = 'PGR01', hint = 'For example {"42": 0.93, "7": 0.2}.';
        elsif options ->> 'after' is not null then
            raise exception 'A reranked list has one page of results.'
                using errcode = 'PGR01', hint = 'Raise top_k instead of passing after.';
        end if;
    elsif options ->> 'after' is not null then
        -- The cursor says where the list continues (after a score and an id or, in a rearranged
        -- list, after a number of hits), and the depth of the list that it came from.
        if _pgrag.is_rearranged(request) and request.words <> '' then
            cursor_parts := regexp_match(options ->> 'after', '^p(\d{1,5}):(\d{1,5})$');
            request.after_place := cursor_parts[1];
            request.candidate_count := cursor_parts[2];
        else
            select c.score, c.document_id, c.depth, c.start_depth
            into
                request.after_score, request.after_id, request.candidate_count,
                request.start_depth
            from _pgrag.read_cursor(options ->> 'after') as c;
        end if;
        if (
            request.candidate_count between 1 and 20000
            and coalesce(request.start_depth, 1) between 1 and request.candidate_count
        ) is not true then
            raise exception 'The cursor % was not made by a search like this.',
                quote_literal(left(options ->> 'after', 100))
                using errcode = 'PGR07',
                    hint = 'Pass the cursor of the last hit as it is, and the same arguments.';
        end if;
    end if;
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
        -- The name of a query type means the intent SEMANTIC with that type, unless an intent has
        -- the same name: it uses the type by default.
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

-- The parts of a cursor; null if cursor_of did not write it.
create or replace function _pgrag.read_cursor(
    cursor text,
    out score double precision,
    out document_id bigint,
    out depth integer,
    out start_depth integer
)
language plpgsql
immutable
parallel safe
as $$
declare
    data bytea;
    bits bigint;
    depths integer;
begin
    if cursor !~ '^[A-Za-z0-9_-]{17,28}$' or length(cursor) % 4 = 1 then
        return;
    end if;
    data := decode(
        rpad(translate(cursor, '-_', '+/'), (length(cursor) + 3) / 4 * 4, '='), 'base64'
    );
    bits := ('x' || encode(substr(data, 1, 8), 'hex'))::bit(64)::bigint;
    depths := ('x00' || encode(substr(data, 9, 3), 'hex'))::bit(32)::integer;
    -- An IEEE 754 number between 0 and 2^16, or 0.
    if bits = 0 then
        score := 0;
    elsif bits >> 52 between 1 and 1039 then
        score := (bits & ((1::bigint << 52) - 1) | (1::bigint << 52))
            * 2::double precision ^ ((bits >> 52) - 1075);
    end if;
    document_id := ('x' || lpad(encode(substr(data, 13), 'hex'), 16, '0'))::bit(64)::bigint;
    start_depth := depths >> 3;
    depth := least(start_depth * 5 ^ (depths & 7), 20000);
    if document_id < 1
        or _pgrag.cursor_of(score, document_id, start_depth, depths & 7) is distinct from cursor
    then
        score := null;
        document_id := null;
        depth := null;
        start_depth := null;
    end if;
end;
$$;
