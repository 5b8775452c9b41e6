-- What one edit makes of a word (an inserted, deleted or replaced letter, or swapped neighbours) if
-- it is a stop word, or the libraries have it, with the number of their passages with its stem. Of
-- several words with one stem, a swap comes first, then a deletion, an insertion, a replacement.
-- is_sure: only the word of most passages, and only likely edits: the first letter is seldom wrong;
-- a letter is replaced by one that sounds like it or is beside it on the keyboard; and outside of
-- English, endings that differ are those of one word.
create or replace function _pgrag.edited_words(
    word text,
    library_ids bigint[],
    languages text[],
    is_sure boolean
)
returns table (
    replacement text,
    is_stop boolean,
    document_count bigint
)
language plpgsql
stable
parallel safe
as $$
declare
    is_cyrillic constant boolean := word ~ '[а-яё]';
    letters constant text[] := string_to_array(
        case
            when is_cyrillic then 'абвгдежзийклмнопрстуфхцчшщъыьэюяё'
            else 'abcdefghijklmnopqrstuvwxyzäöüß'
        end,
        null
    );
    -- Neighbours are beside each other on the keyboard, or sound alike.
    neighbours constant text := case
        when is_cyrillic
        then 'йцукенгшщзхъ фывапролджэ ячсмитьбю'
        else 'qwertyuiop asdfghjkl zxcvbnm cskzx bpfvw dtgj mn'
    end;
    vowels constant text := 'aeiouyäöüаеёиоуыэюя';
    first constant integer := is_sure::integer;
    -- The last place that may be edited.
    last constant integer := length(word)
        - case when is_sure and 'english' <> all (languages) then 3 else 0 end;
    variants constant text[] := array(
        select v.variant
        from (
            select left(word, n - 1) || substr(word, n + 1, 1) || substr(word, n, 1)
                || substr(word, n + 2) as variant, 1 as kind
            from generate_series(1, length(word) - 1) as n
            union all
            select left(word, n - 1) || substr(word, n + 1), 2
            from generate_series(1 + first, last) as n
            union all
            select left(word, n) || letter || substr(word, n + 1), 3
            from generate_series(first, last) as n
            cross join unnest(letters) as letter
            union all
            select left(word, n - 1) || letter || substr(word, n + 1), 4
            from generate_series(1 + first, last) as n
            cross join unnest(letters) as letter
            cross join substr(word, n, 1) as written
            where not is_sure
                or strpos(neighbours, written || letter) > 0
                or strpos(neighbours, letter || written) > 0
                or strpos(vowels, written) > 0 and strpos(vowels, letter) > 0
        ) as v
        where v.variant <> word
        group by v.variant
        order by min(v.kind), v.variant
    );
begin
    return query
    with stemmed as materialized (
        -- Each word of a vector has the position that it has among the variants.
        select l.language, v.lexeme, variants[p.nth] as variant, p.nth
        from unnest(languages) as l (language)
        cross join lateral unnest(
            _pgrag.query_vector(l.language, array_to_string(variants, ' '))
        ) as v
        cross join lateral unnest(v.positions) as p (nth)
        where p.nth <= cardinality(variants)
    ),
    -- One scan of the index for all of them.
    known as materialized (
        select
            k.language, k.lexeme,
            (array_agg(k.library_id order by k.document_count desc))[1] as library_id,
            sum(k.document_count)::integer as document_count
        from pgrag.lexeme_statistics as k
        where k.library_id = any (library_ids)
            and k.language = any (languages)
            and k.lexeme = any (array(select s.lexeme from stemmed as s))
            and k.document_count > 0
        group by k.language, k.lexeme
    ),
    counted as materialized (
        select s.*, k.library_id, k.document_count
        from known as k
        join stemmed as s on s.language = k.language and s.lexeme = k.lexeme
    ),
    -- Other letters may have the same stem: "apy" that of API.
    spelt as (
        select c.*, m.is_known, row_number() over (
            partition by c.language, c.lexeme order by m.is_known desc, c.nth
        ) as rank
        from (select array_agg(o.variant) as words from counted as o) as all_words
        cross join lateral unnest(all_words.words, _pgrag.known_to_model(all_words.words))
            as m (variant, is_known)
        join counted as c on c.variant = m.variant
        where m.is_known or starts_with(c.variant, c.lexeme)
    )
    select w.form, false, s.document_count::bigint
    from (
        select s.*
        from spelt as s
        where s.rank = 1
        order by s.document_count desc, s.nth
        limit case when is_sure then 1 end
    ) as s
    -- Is it written anywhere? A stem alone is often no word: "servic".
    cross join lateral (
        select case
            when s.is_known then s.variant
            else _pgrag.written_form(
                s.library_id, s.language, s.lexeme, s.document_count, s.variant
            )
        end as form
        -- Once: without it, for the condition and the result.
        offset 0
    ) as w
    where _pgrag.edit_distance(word, w.form) <= 1
    union all
    select variants[n], true, 0
    from generate_series(1, cardinality(variants)) as n
    cross join unnest(languages) as l (language)
    left join stemmed as s on s.nth = n and s.language = l.language
    where s.nth is null;
end;
$$;

-- Whether the vocabulary of the built-in model has each of these words, whole.
create or replace function _pgrag.known_to_model(
    words text[]
)
returns boolean[]
language plpgsql
stable
parallel safe
as $$
declare
    known boolean[];
begin
    select array_agg(t.token is not null order by w.nth)
    into known
    from pgrag.embedding_models as m
    cross join lateral unnest(
        _pgrag.split_words(array_to_string(words, ' '), m.settings -> 'characters')
    ) with ordinality as w (word, nth)
    left join pgrag.model_tokens as t
        on t.model_id = m.model_id and t.token = w.word collate "C"
    where m.name = _pgrag.builtin_model();
    return coalesce(known, array_fill(false, array[cardinality(words)]));
end;
$$;
