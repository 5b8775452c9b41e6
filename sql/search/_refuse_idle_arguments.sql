-- Refuses an argument of the caller that could have no effect beside the others in force, whether
-- those are the caller's, the strategy's or the library's.
create or replace function _pgrag.refuse_idle_arguments(
    stated jsonb,
    request _pgrag.search_request
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    given constant jsonb := jsonb_strip_nulls(stated);
    -- Values that say nothing.
    plain constant jsonb := '{
        "rrf_k": 60, "rrf_weights": [1, 1], "aggregate": "max", "page_decay": 1,
        "query_expansion": "none", "prefix": false
    }';
    idle text;
    needed text;
begin
    if greatest(request.rrf_weights[1], request.rrf_weights[2]) > 0::double precision
        and (plain || given = given || plain)
        and not given ?| '{max_per_page, model, page_evidence}'::text[]
    then
        return;
    elsif request.fusion = 'rrf'
        and stated ->> 'alpha' is not null
        and coalesce(stated -> 'rrf_weights', 'null') not in ('null', '[1, 1]')
    then
        raise exception 'alpha and rrf_weights are two ways to say the same.'
            using errcode = 'PGR01',
                hint = 'Pass one of them; alpha=0.7 is rrf_weights=0.6,1.4.';
    elsif request.rrf_weights = '{0, 0}' then
        raise exception 'rrf_weights must not both be 0: no passage would have a score.'
            using errcode = 'PGR01', hint = 'Pass 0 for the retriever that shall not count.';
    end if;
    select c.name, c.companion
    into idle, needed
    from (
        values
            (
                'rrf_k', 'fusion=rrf',
                request.fusion = 'rrf' or request.unit = 'page' and request.aggregate = 'rrf'
            ),
            ('rrf_weights', 'fusion=rrf', request.fusion = 'rrf'),
            ('aggregate', 'unit=page', request.unit = 'page'),
            ('max_per_page', 'unit=document', request.unit <> 'page'),
            ('page_decay', 'unit=document', request.unit <> 'page'),
            ('model', 'an alpha above 0', stated ->> 'alpha' <> '0'),
            ('page_evidence', 'an alpha below 1', stated ->> 'alpha' <> '1'),
            ('query_expansion', 'an alpha below 1', stated ->> 'alpha' <> '1'),
            ('prefix', 'an alpha below 1', stated ->> 'alpha' <> '1')
    ) as c (name, companion, has_effect)
    where not c.has_effect and given -> c.name <> coalesce(plain -> c.name, 'null')
    limit 1;
    if found then
        raise exception '% has an effect only with %.', idle, needed
            using errcode = 'PGR01', hint = format('Pass %s, or leave out %s.', needed, idle);
    end if;
end;
$$;
