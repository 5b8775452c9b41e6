-- The language of a page: what it states, else that of its text. A folder or suffix (docs/pt-br/,
-- guide.de.md) decides only where the text agrees: "it" and "id" are other folders, too.
-- `patterns`: language_patterns(expected), made once for many pages.
create or replace function _pgrag.page_language(
    key text,
    stated text,
    content text,
    expected text,
    patterns text[] default null
)
returns text
language plpgsql
immutable
parallel safe
as $$
declare
    code text := _pgrag.language_code(stated);
    folder text;
begin
    if code is not null then
        return code;
    end if;
    code := _pgrag.likely_language(content, expected, patterns => patterns);
    if key ~* '(^|[/.])[a-z]{2}([-_]([a-z]{2}|hans|hant))?[/.]' then
        select _pgrag.language_code(p.part)
        into folder
        from regexp_split_to_table(key, '[/.]') with ordinality as p (part, nth)
        where p.part ~* '^[a-z]{2}([-_]([a-z]{2}|hans|hant))?$'
            and _pgrag.language_code(p.part) is not null
        order by p.nth desc
        limit 1;
    end if;
    if split_part(folder, '-', 1) in (
        split_part(code, '-', 1),
        _pgrag.likely_language(
            content, candidates => array[split_part(folder, '-', 1), split_part(code, '-', 1)]
        )
    ) then
        return folder;
    end if;
    return code;
end;
$$;

-- The language of pages of a library that neither state nor clearly show one. Where nobody states
-- it, it is the language of most pages in the first batch of which more than a third show one,
-- until then English.
create or replace function _pgrag.library_language(
    library_id bigint,
    pages jsonb
)
returns text
language plpgsql
volatile
as $$
declare
    code text := (
        select l.language_code
        from pgrag.libraries as l
        where l.library_id = library_language.library_id
    );
begin
    if code is null then
        select split_part(l.code, '-', 1)
        into code
        from jsonb_array_elements(library_language.pages) with ordinality as i (page, nth)
        cross join lateral _pgrag.page_language(
            i.page ->> 'key', i.page ->> 'language', _pgrag.page_content(i.page), null
        ) as l (code)
        where i.nth <= 200 and l.code is not null
        group by split_part(l.code, '-', 1)
        -- One clear page among many is an exception.
        having 3 * count(*) > least(jsonb_array_length(library_language.pages), 200)
        order by count(*) desc, split_part(l.code, '-', 1) = 'en' desc, split_part(l.code, '-', 1)
        limit 1;
        if code is not null then
            update pgrag.libraries as l
            set language = _pgrag.text_search_configuration(code), language_code = code
            where l.library_id = library_language.library_id;
        end if;
    end if;
    return coalesce(code, 'en');
end;
$$;

-- The text that shows the language of a page.
create or replace function _pgrag.page_content(
    page jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    select concat_ws(
        E'\n',
        coalesce(
            nullif(page ->> 'body', ''),
            (
                select string_agg(d ->> 'content', E'\n')
                from jsonb_path_query(page, 'lax $.documents[*]') as d
            )
        ),
        page ->> 'title'
    );
$$;
