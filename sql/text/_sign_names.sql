-- Names with signs (C#, .NET, @Component, --no-verify, ::before), operators (=>, ??) and emoji: the
-- parser knows letters only, so their signs become letters of Tangut, a script that documentation
-- does not use, and each name is a word. Marks of Markdown are not names. Inlined. One expression
-- with all alternatives would take three times as long.
create or replace function _pgrag.sign_names(
    input text
)
returns setof text
language sql
immutable
parallel safe
rows 5
as $$
    select _pgrag.sign_name(n.name)
    from (
        select m.part[1]
        from pg_catalog.regexp_matches(
            sign_names.input,
            -- Scripts without spaces end a name as blanks do.
            U&'(?:^|[^\\w.@$#&%:!?-]|[\3040-\9FFF\AC00-\D7A3])'
            '((?:[.@#&%:!?$-]{1,3}[A-Za-z_\00C0-\052F]|[$#]{1,2}[0-9])'
            '[0-9A-Za-z_\00C0-\052F]*(?:-[0-9A-Za-z_\00C0-\052F]+)*)',
            'g'
        ) as m (part)
        union
        select m.part[1]
        from pg_catalog.regexp_matches(
            sign_names.input,
            -- C++, C#, A*, AT&T
            '([A-Za-z][0-9A-Za-z_]*(?:\+{1,2}\d*|#)(?![0-9A-Za-z_+#])'
            '|\m[A-Z]{1,6}&[A-Z]{1,6}\M|(?<![*\w])[A-Z]\*(?![*\w.,;:!?)]))',
            'g'
        ) as m (part)
        union
        select m.part[1]
        from pg_catalog.regexp_matches(
            sign_names.input,
            U&'[-+*=<>!&|^~?:.%#@$]{2,}|[\2190-\22FF\2300-\24FF\25A0-\2BFF\+01F000-\+01FAFF]', 'g'
        ) as m (part)
    ) as n (name)
    where case
        when n.name ~ '[[:alnum:]]'
        then pg_catalog.length(n.name) <= 60 and n.name !~ '&(nbsp|amp|lt|gt|quot)$'
        else _pgrag.is_operator(n.name)
    end;
$$;

-- Whether signs are an operator: not rules, borders of tables, emphasis, comments or addresses.
create or replace function _pgrag.is_operator(
    signs text
)
returns boolean
language sql
immutable
parallel safe
as $$
    select pg_catalog.length(is_operator.signs) <= 4
        and is_operator.signs !~ '^(\*+|-+|~+|\.+|#+|====|[|:-]*-[|:-]*|&#)$|^[.:][&$#@%]|<!|--|><'
        '|!\?|\?!|\.[?!]|[?!]\.|\*[^=<>&]|[^=<>&]\*';
$$;

-- A last letter of its own keeps a name from being stemmed.
create or replace function _pgrag.sign_name(
    name text
)
returns text
language sql
immutable
parallel safe
as $$
    select case
        when pg_catalog.ascii(sign_name.name) between 8592 and 11263
        then pg_catalog.chr(pg_catalog.ascii(sign_name.name) + 85616)
        when pg_catalog.ascii(sign_name.name) between 126976 and 129791
        then pg_catalog.chr(pg_catalog.ascii(sign_name.name) - 29952)
        else pg_catalog.translate(sign_name.name, _pgrag.signs(), _pgrag.letters_of_signs())
            || case when sign_name.name ~ '\w$' then U&'\+018614' else '' end
    end;
$$;

create or replace function _pgrag.signs()
returns text
language sql
immutable
parallel safe
as $$
    select '!#$%&*+-./:<=>?@^|~_';
$$;

create or replace function _pgrag.letters_of_signs()
returns text
language sql
immutable
parallel safe
as $$
    select U&'\+018600\+018601\+018602\+018603\+018604\+018605\+018606\+018607\+018608\+018609'
        '\+01860A\+01860B\+01860C\+01860D\+01860E\+01860F\+018610\+018611\+018612\+018613\+018614';
$$;

-- A text in which letters stand for signs, as people write it.
create or replace function _pgrag.with_signs(
    input text
)
returns text
language plpgsql
immutable
strict
parallel safe
as $$
declare
    written text := input;
    letter text;
begin
    if written !~ U&'[\+017000-\+0187F7]' then
        return written;
    end if;
    written := pg_catalog.translate(written, _pgrag.letters_of_signs(), _pgrag.signs());
    for letter in
        select distinct m.part[1]
        from pg_catalog.regexp_matches(written, U&'([\+017000-\+0185FF])', 'g') as m (part)
    loop
        written := pg_catalog.replace(
            written,
            letter,
            pg_catalog.chr(
                pg_catalog.ascii(letter)
                - case when pg_catalog.ascii(letter) < 97024 then 85616 else -29952 end
            )
        );
    end loop;
    return written;
end;
$$;

-- Lexemes without the letters of the names with signs among them: Ref is not $ref, nor C C#.
create or replace function _pgrag.whole_names(
    lexemes text[]
)
returns text[]
language plpgsql
immutable
parallel safe
as $$
declare
    joined constant text := pg_catalog.array_to_string(lexemes, ' ');
begin
    -- Most texts have no such name.
    if pg_catalog.translate(joined, _pgrag.letters_of_signs(), '') = joined then
        return lexemes;
    end if;
    return array(
        select l.lexeme
        from pg_catalog.unnest(whole_names.lexemes) as l (lexeme)
        where not exists (
            select
            from pg_catalog.unnest(whole_names.lexemes) as n (name)
            cross join lateral (
                select pg_catalog.translate(n.name, _pgrag.letters_of_signs(), '') as letters
                offset 0
            ) as bare
            where n.name <> l.lexeme
                and bare.letters <> n.name
                -- A stem may end in other letters than the name.
                and pg_catalog.strpos(
                    bare.letters,
                    pg_catalog.left(
                        pg_catalog.replace(l.lexeme, '-', ''),
                        greatest(pg_catalog.length(l.lexeme) - 2, 1)
                    )
                ) > 0
        )
    );
end;
$$;
