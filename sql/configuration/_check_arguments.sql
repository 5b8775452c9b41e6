-- Checks the arguments of a search function against their declaration. Refuses unknown names,
-- arguments that the function does not take, wrong types and values out of bounds. Returns them.
create or replace function _pgrag.check_arguments(
    function text,
    arguments jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
begin
    -- What nearly every search states, valid by every declaration, so that their first search of a
    -- session reads no rules. Containment would not tell [1] from [1, 1].
    if function = 'search'
        and arguments - '{library, version, filters, rrf_weights}'::text[] <@ '{
            "top_k": 10, "fusion": "absolute", "candidate_count": 64, "rrf_k": 60,
            "snippets": false, "explain": false, "mode": "hybrid", "history": false,
            "prefix": false, "alpha": null, "min_score": null, "levels": null,
            "max_per_page": null, "page_decay": null, "page_hits": null, "after": null,
            "model": null, "page_evidence": null, "intent": null, "unit": null,
            "aggregate": null, "hierarchy": null, "mmr_lambda": null, "query_expansion": null,
            "graph": null, "exclude": null, "changed_since": null, "reranked": null,
            "min_confidence": null, "dependencies": null
        }'
        and coalesce(arguments -> 'rrf_weights' = '[1, 1]', true)
        and jsonb_typeof(arguments -> 'library') in ('string', 'null') is not false
        and jsonb_typeof(arguments -> 'version') in ('string', 'null') is not false
    then
        return arguments;
    end if;
    return _pgrag.arguments_by_rules(function, arguments);
end;
$$;

create or replace function _pgrag.arguments_by_rules(
    function text,
    arguments jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
declare
    rules constant jsonb := _pgrag.argument_rules();
    -- A single retriever takes fewer arguments, whether chosen by function or by mode.
    taker constant text := case
        when arguments ->> 'mode' in ('keyword', 'semantic')
        then (arguments ->> 'mode') || '_search'
        else function
    end;
    declared constant jsonb := rules -> 'arguments';
    taken constant jsonb := rules -> 'functions' -> taker;
    wrong record;
begin
    select e.key as name, e.value, declared -> e.key as rule
    into wrong
    from jsonb_each(arguments) as e
    where e.value <> coalesce(declared -> e.key -> 'default', 'null')
        -- Left open for the strategy.
        and not (e.value = 'null' and e.key = any (_pgrag.strategy_arguments()))
        and (
            not taken ? e.key
            or _pgrag.value_fault(e.value, declared -> e.key) is not null
        )
    limit 1;
    if found then
        raise exception '%', case
            when wrong.rule is null then format('There is no argument %s.', wrong.name)
            when not taken ? wrong.name then format('%s has no argument %s.', taker, wrong.name)
            else format('%s %s', wrong.name, _pgrag.value_fault(wrong.value, wrong.rule))
        end
            using errcode = 'PGR01',
                hint = case when wrong.rule is null
                    then _pgrag.name_hint(
                        wrong.name, array(select jsonb_array_elements_text(taken)), 'There are',
                        null
                    )
                    else 'Leave it out for the default.' end;
    end if;
    return arguments;
end;
$$;

-- Merges the named arguments and the options into one checked object.
create or replace function _pgrag.search_document(
    function text,
    options jsonb,
    named jsonb
)
returns jsonb
language plpgsql
immutable
parallel safe
as $$
begin
    if jsonb_typeof(options) <> 'object' then
        raise exception 'options must be an object, got %.', options
            using errcode = 'PGR01', hint = 'For example {"alpha": 0.4, "levels": [1, 2]}.';
    end if;
    options := coalesce(jsonb_strip_nulls(options), '{}');
    if options <> '{}' then
        if options ?| array(select jsonb_object_keys(named)) then
            raise exception 'options cannot hold %.', (
                select string_agg(k.key, ', ' order by k.key)
                from jsonb_object_keys(named) as k (key)
                where options ? k.key
            )
                using errcode = 'PGR01', hint = 'Pass it by name, beside options.';
        end if;
        named := options || named;
    end if;
    return _pgrag.check_arguments(function, named);
end;
$$;

-- What is wrong with a value by its rule, as in argument_rules; null for a valid value. Bounds,
-- choices and pattern apply to each item of a list; an object (filters) is checked by its reader.
create or replace function _pgrag.value_fault(
    value jsonb,
    rule jsonb
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    kind constant text := rule ->> 'type';
    value_kind constant text := jsonb_typeof(value);
    items constant jsonb := case when kind = 'array' then value else jsonb_build_array(value) end;
begin
    -- Each condition with a query below is a statement; most arguments need none.
    if kind = 'object'
        or (kind in ('string', 'boolean') and kind = value_kind and not rule ?| '{choices,pattern}')
    then
        return null;
    elsif exists (
        select
        from jsonb_array_elements(case when jsonb_typeof(items) = 'array' then items end) as i
        where case jsonb_typeof(i.value)
            when 'number' then not _pgrag.is_measurable(i.value::numeric)
        end
    )
    then
        return format(
            'must be 0, or from 1e-100 to 1e100 in size, got %s.', left(value::text, 100)
        );
    elsif value_kind <> coalesce(nullif(kind, 'integer'), 'number')
        or (kind = 'integer' and value::numeric % 1 <> 0)
        or jsonb_array_length(case when kind = 'array' then value end)
            not between coalesce((rule ->> 'shortest')::integer, 0)
            and coalesce((rule ->> 'longest')::integer, 1000000)
        or (rule ? 'choices' and not rule -> 'choices' @> value)
        or (rule ?| '{minimum,maximum}' and exists (
            select
            from jsonb_array_elements(items) as i
            where jsonb_typeof(i.value) <> 'number'
                or i.value < rule -> 'minimum'
                or i.value > rule -> 'maximum'
        ))
        or (rule ? 'pattern' and exists (
            select
            from jsonb_array_elements(items) as i
            where jsonb_typeof(i.value) <> 'string'
                or i.value #>> '{}' !~ (rule ->> 'pattern')
                or (kind = 'array' and length(i.value #>> '{}') > 300)
        ))
    then
        return format(
            'must be %s, got %s.',
            -- For example 0 to 1, at least 1, max or mean, a list of 0 to 2, true or false.
            coalesce(rule ->> 'form', concat(
                case when kind = 'array' then 'a list of ' end,
                case when rule ->> 'shortest' = rule ->> 'longest'
                    then (rule ->> 'longest') || ' numbers, each ' end,
                case
                    when rule ? 'choices' then (
                        select regexp_replace(
                            string_agg(c.choice, ', ' order by c.number), ', ([^,]*)$', ' or \1'
                        )
                        from jsonb_array_elements_text(rule -> 'choices') with ordinality
                            as c (choice, number)
                    )
                    when rule ? 'maximum' then concat(rule -> 'minimum', ' to ', rule -> 'maximum')
                    when rule ? 'minimum' then 'at least ' || (rule ->> 'minimum')
                    else case kind
                        when 'string' then 'a text'
                        when 'boolean' then 'true or false'
                        when 'array' then 'values'
                        when 'integer' then 'a whole number'
                        else 'a number'
                    end
                end
            )),
            left(
                case value_kind
                    when 'string' then quote_literal(value #>> '{}') else value::text end,
                100
            )
        );
    end if;
    return null;
end;
$$;
