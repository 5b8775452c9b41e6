-- Judgements must survive re-indexing: ids may change, keys do not.
create or replace function _pgrag.evaluation_target(
    unit text,
    key text,
    anchor text,
    sort_order integer
)
returns text
language sql
immutable
parallel safe
as $$
    select case evaluation_target.unit
        when 'page' then evaluation_target.key
        when 'section' then evaluation_target.key
            || coalesce('#' || nullif(evaluation_target.anchor, ''), '')
        when 'document' then evaluation_target.key || '#c' || evaluation_target.sort_order
    end;
$$;
