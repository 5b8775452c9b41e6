-- The words of a whole page: lexemes of its passages without positions, title, path and url with
-- theirs. A tsvector holds 1 MB; of a page with more words, the longest are left out.
create or replace function _pgrag.page_vector(
    language text,
    title text,
    path text[],
    url text,
    lexemes text[],
    library_id bigint,
    version_id bigint
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.header_vector(
            page_vector.language, page_vector.title, page_vector.path, page_vector.url
        )
        || array_to_tsvector(
            case
                when octet_length(array_to_string(page_vector.lexemes, '')) < 900000
                then page_vector.lexemes
                else array(
                    select l.lexeme
                    from (
                        select
                            e.lexeme,
                            sum(octet_length(e.lexeme))
                                over (order by octet_length(e.lexeme), e.lexeme) as total
                        from unnest(page_vector.lexemes) as e (lexeme)
                    ) as l
                    where l.total < 900000
                )
            end || array['@l' || page_vector.library_id, '@v' || page_vector.version_id]
        );
$$;
