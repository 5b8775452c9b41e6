-- What the words of a query stand for in these libraries: their terms, with the near words in the
-- place of misspelt ones (guesses), and the beginning of a word that is not finished (begun).
-- marked: the words with their quotation marks and signs; wishes: names of versions among them.
create or replace function _pgrag.understood_words(
    query text,
    marked text,
    inout words text,
    wishes text[],
    libraries pgrag.libraries[],
    prefix boolean,
    out terms pgrag.query_term[],
    out begun text,
    out guesses text[],
    out notes text[]
)
language plpgsql
stable
parallel safe
as $$
declare
    searched text := _pgrag.without_versions(words, wishes);
    misspelt text[];
begin
    notes := '{}';
    terms := _pgrag.terms_of_words(searched, libraries);
    if prefix then
        begun := _pgrag.unfinished_word(query, words);
        if not exists (select from _pgrag.begun_lexemes(begun, libraries)) then
            begun := null;
        elsif not _pgrag.is_finished(begun, libraries) then
            -- What is only begun has no meaning yet, and words that no passage has have none here.
            searched := regexp_replace(searched, '\S+$', '');
            terms := _pgrag.terms_of_words(searched, libraries);
            words := case
                when exists (select from unnest(terms) as t where t.document_count > 0)
                then regexp_replace(words, '\S+$', '')
                else ''
            end;
        end if;
    end if;
    if not _pgrag.lack_words(terms) then
        return;
    end if;
    select array_agg(n.word), array_agg(n.replacement)
    into misspelt, guesses
    from _pgrag.near_words(
        case when begun is null then marked else regexp_replace(marked, '\S+$', '') end,
        array(select l.library_id from unnest(libraries) as l),
        is_sure => true
    ) as n;
    if misspelt is not null then
        words := _pgrag.with_replacements(words, misspelt, guesses);
        searched := _pgrag.with_replacements(searched, misspelt, guesses);
        terms := _pgrag.terms_of_words(searched, libraries);
        notes := array(
            select format(
                'Also searched for “%s” because no passage has “%s”.', m.near, m.word
            )
            from unnest(misspelt, guesses) as m (word, near)
        );
    end if;
end;
$$;
