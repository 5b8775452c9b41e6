-- The lexemes of the words that a built-in model knows: whole, or, as compounds and inflected
-- words, in pieces of three letters or more on average. Typing errors fall into smaller pieces.
create or replace function _pgrag.understood_lexemes(
    words text,
    language text,
    model_id bigint
)
returns text[]
language plpgsql
stable
parallel safe
as $$
declare
    characters constant jsonb := (
        select m.settings -> 'characters'
        from pgrag.embedding_models as m
        where m.model_id = understood_lexemes.model_id
    );
begin
    return array(
        with understood as materialized (
            select p.word
            from _pgrag.word_pieces(
                _pgrag.split_words(words, characters), understood_lexemes.model_id
            ) as p
            group by p.word
            having length(p.word) >= 3 * count(*)
        )
        select t.lexeme
        from regexp_split_to_table(words, '\s+') as r (part)
        cross join lateral unnest(
            _pgrag.query_vector(understood_lexemes.language, r.part)
        ) as t
        where _pgrag.split_words(r.part, characters) && array(select u.word from understood as u)
    );
end;
$$;
