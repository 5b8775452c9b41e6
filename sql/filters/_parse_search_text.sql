-- Plain words rank; only marked parts are conditions: "a phrase" and +word must occur, -word must
-- not. A dash or plus inside a word, doubled (--flag, C++) or before nothing but signs (->, +=) is
-- not a mark.
create or replace function _pgrag.parse_search_text(
    query text,
    out words text,
    out required text[],
    out excluded text[]
)
language plpgsql
immutable
parallel safe
as $$
declare
    -- With a letter, a digit or another character beyond ASCII.
    marked_word constant text := '(?=[^\s"]*[0-9A-Za-z\u0080-\U0010FFFF])[^\s"+=>-][^\s"]*';
begin
    words := left(coalesce(parse_search_text.query, ''), 10000);
    required := '{}';
    excluded := '{}';
    if words !~ '"|(^|\s)[+-]' then
        words := btrim(words);
        return;
    end if;
    select
        coalesce(array_agg(coalesce(m[2], m[3])) filter (where m[1] <> '-'), '{}'),
        coalesce(array_agg(coalesce(m[2], m[3])) filter (where m[1] = '-'), '{}')
    into required, excluded
    from regexp_matches(
        words, '(?:^|\s)([+-]?)(?:"([^"]+)"|(?<=[+-])(' || marked_word || '))', 'g'
    ) as m;
    words := regexp_replace(words, '(^|\s)-("[^"]+"|' || marked_word || ')', ' ', 'g');
    words := regexp_replace(words, '(^|\s)\+(?="|' || marked_word || ')', '\1', 'g');
    words := btrim(replace(words, '"', ' '));
end;
$$;

-- The words of a query without filters: the text that is ranked and embedded.
create or replace function _pgrag.searched_words(
    query text
)
returns text
language sql
immutable
parallel safe
as $$
    select (_pgrag.parse_search_text((pgrag.parse_query(searched_words.query)).words)).words;
$$;
