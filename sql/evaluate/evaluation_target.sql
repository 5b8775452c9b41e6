-- Judgements must survive re-indexing: ids may change, keys do not.
create or replace function pgrag.evaluation_target(
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

comment on function pgrag.evaluation_target is
'The name under which a passage is judged: for unit page the key of its page ("guide/install.md"),
for section the key and the anchor of the heading ("guide/install.md#upgrade"), for document its
position in the page ("guide/install.md#c12"; see sort_order). Null for any other unit.';
