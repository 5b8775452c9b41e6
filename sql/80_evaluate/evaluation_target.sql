-- What is judged must keep its name over re-indexing: numbers do not, keys do.
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

comment on function pgrag.evaluation_target(text, text, text, integer) is
'The name under which a document is judged: by page its page''s key ("guide/install.md"), by section
key and anchor of the heading ("guide/install.md#upgrade"), by document its place in the page
("guide/install.md#c12"; see sort_order). Null for any other unit.';
