-- Plain words rank, and so do "quoted phrases" among them; +word and +"a phrase" must occur, -word
-- must not. A query of quoted phrases alone asks for them: all must occur. A dash or plus inside a
-- word, doubled (--flag, C++) or before nothing but signs (->, +=) is not a mark, nor is a
-- quotation mark without its other half, or after a letter or digit (5").
create or replace function _pgrag.parse_search_text(
    query text,
    out words text,
    out required text[],
    out excluded text[],
    out phrases text[],
    out is_phrase boolean
)
language plpgsql
immutable
parallel safe
as $$
declare
    -- With a letter, a digit or another character beyond ASCII.
    marked_word constant text := '(?=[^\s"]*[0-9A-Za-z\u0080-\U0010FFFF])[^\s"+=>-][^\s"]*';
    marked constant text := '(?:^|\s)([+-])(?:"([^"]+)"|(' || marked_word || '))';
    quoted constant text := '(?<![[:alnum:]])"([^"\s](?:[^"]*[^"\s])?)"(?![[:alnum:]])';
    typographic constant text := '((?:^|\s)[+-]|)(?:„([^„“”"]+)[“”"]|“([^“”]+)”|«([^«»]+)»'
        '|»([^«»]+)«|「([^「」]+)」|『([^『』]+)』)';
    rest text;
begin
    words := left(coalesce(parse_search_text.query, ''), 10000);
    required := '{}';
    excluded := '{}';
    phrases := '{}';
    is_phrase := false;
    if words !~ '["„“«»「『]|(^|\s)[+-]' then
        words := btrim(words);
        return;
    end if;
    -- In Chinese and Japanese, no blank stands around quotation marks.
    words := regexp_replace(words, typographic || '(?=[[:alnum:]])', ' \1"\2\3\4\5\6\7" ', 'g');
    words := regexp_replace(words, typographic, ' \1"\2\3\4\5\6\7"', 'g');
    select
        coalesce(array_agg(coalesce(m[2], m[3])) filter (where m[1] = '+'), '{}'),
        coalesce(array_agg(coalesce(m[2], m[3])) filter (where m[1] = '-'), '{}')
    into required, excluded
    from regexp_matches(words, marked, 'g') as m;
    rest := regexp_replace(words, marked, ' ', 'g');
    phrases := array(select m[1] from regexp_matches(rest, quoted, 'g') as m limit 10);
    if regexp_replace(rest, quoted, ' ', 'g') !~ '[^\s,;.?!]' then
        is_phrase := phrases <> '{}' or required <> '{}';
        required := required || phrases;
        phrases := '{}';
    end if;
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
