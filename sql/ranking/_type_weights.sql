-- The weights of page types in one search, by name; null if all are 1. A weight below 1 does not
-- apply to a type that words of the query or a filter name.
create or replace function _pgrag.type_weights(
    query text,
    filters jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
as $$
declare
    words constant text := ' ' || btrim(
        regexp_replace(
            translate(lower(left(type_weights.query, 1000)), '''’', ''), '[^[:alnum:]]+', ' ', 'g'
        )
    ) || ' ';
    filtered text[];
    weights jsonb;
begin
    if type_weights.filters is not null then
        filtered := array(
            select lower(f.value #>> '{}')
            from jsonb_path_query(
                type_weights.filters, 'strict $.**.type.**', silent => true
            ) as f (value)
        );
    end if;
    select jsonb_object_agg(w.name, w.weight)
    into weights
    from (
        select
            t.name,
            case
                when t.retriever_weight < 1
                    and (
                        t.name = any (filtered)
                        or exists (
                            select
                            from unnest(t.asked_by) as a (phrase)
                            where strpos(words, replace(' ' || a.phrase || ' ', '* ', '')) > 0
                        )
                    )
                then 1
                else t.retriever_weight
            end as weight
        from pgrag.page_types as t
    ) as w
    having bool_or(w.weight <> 1);
    return weights;
end;
$$;

-- The weight of a page; types without an entry, and pages without a type, have that of "default".
create or replace function _pgrag.type_weight(
    type text,
    weights jsonb
)
returns double precision
language sql
immutable
parallel safe
as $$
    select coalesce(
        (weights ->> pg_catalog.lower(pg_catalog.btrim(type_weight.type)))::double precision,
        (weights ->> 'default')::double precision,
        1
    );
$$;
