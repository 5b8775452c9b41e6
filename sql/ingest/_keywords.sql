-- Ranking needs lexemes; readers need words. The word of a lexeme is the first word with the same
-- beginning, but for the last letters, which stemming may have changed. Called for every written
-- passage, hence strpos: it costs a fraction of a regular expression.
create or replace function _pgrag.keywords(
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
as $$
declare
    -- A space precedes each word.
    readable text := ' ' || replace(replace(replace(replace(replace(lower(
        keywords.content), e'\n', ' '), '`', ' '), '(', ' '), '"', ' '), '*', ' ');
    -- The text in the letters of lexemes, of the same length, so positions agree.
    plain text := case keywords.language
        when 'german' then replace(replace(replace(readable, 'ä', 'a'), 'ö', 'o'), 'ü', 'u')
        when 'russian' then replace(readable, 'ё', 'е')
        else readable
    end;
    words text[] := '{}';
    lexeme text;
    start integer;
    word text;
    longer integer;
begin
    foreach lexeme in array keywords.lexemes loop
        start := strpos(plain, ' ' || lexeme);
        if start = 0 and length(lexeme) > 4 then
            start := strpos(plain, ' ' || left(lexeme, -1));
        end if;
        if start > 0 then
            word := rtrim(substring(substr(readable, start + 1, 60) from '^\w+(?:-\w+)*'), '_');
            longer := length(split_part(word, '-', 1)) - length(split_part(lexeme, '-', 1));
            if longer between -1 and 5 and word <> all (words) then
                words := words || word;
                exit when cardinality(words) = keywords.keyword_count;
            end if;
        end if;
    end loop;
    return words;
end;
$$;
