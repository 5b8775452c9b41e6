-- Lexemes are for the ranking; a reader wants words. The word of a lexeme is the first in the text
-- that begins like it, but for the last letters, which stemming may have changed. Called for every
-- document that is written: searching for constant strings costs a fraction of regular expressions.
create or replace function pgrag._keywords(
    content text,
    language text,
    lexemes text[],
    keyword_count integer default 5
)
returns text[]
language plpgsql
immutable
strict
parallel safe
set search_path from current
as $$
declare
    -- Each word after a space.
    readable text := ' ' || replace(replace(replace(replace(replace(lower(
        _keywords.content), e'\n', ' '), '`', ' '), '(', ' '), '"', ' '), '*', ' ');
    -- As long as the text, in the letters of lexemes.
    plain text := case _keywords.language
        when 'german' then replace(replace(replace(readable, 'ä', 'a'), 'ö', 'o'), 'ü', 'u')
        when 'russian' then replace(readable, 'ё', 'е')
        else readable
    end;
    words text[] := '{}';
    lexeme text;
    found integer;
    word text;
    longer integer;
begin
    foreach lexeme in array _keywords.lexemes loop
        found := strpos(plain, ' ' || lexeme);
        if found = 0 and length(lexeme) > 4 then
            found := strpos(plain, ' ' || left(lexeme, -1));
        end if;
        if found > 0 then
            word := rtrim(substring(substr(readable, found + 1, 60) from '^\w+(?:-\w+)*'), '_');
            longer := length(split_part(word, '-', 1)) - length(split_part(lexeme, '-', 1));
            if longer between -1 and 5 and word <> all (words) then
                words := words || word;
                exit when cardinality(words) = _keywords.keyword_count;
            end if;
        end if;
    end loop;
    return words;
end;
$$;
