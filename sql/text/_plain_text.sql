-- The address of a link says nothing about the text around it.
create or replace function _pgrag.plain_text(
    markdown text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.strpos(plain_text.markdown, '](') = 0 then plain_text.markdown
        else pg_catalog.regexp_replace(
            plain_text.markdown,
            '\]\([^()\s]*(\([^()\s]*\)[^()\s]*)*(\s+"[^"]*")?\)',
            ']',
            'g'
        )
    end;
$$;
