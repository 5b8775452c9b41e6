-- BM25F multiplies each occurrence by the weight of its field (Robertson, Zaragoza, Taylor: Simple
-- BM25 extension to multiple weighted fields, CIKM 2004). Header and content are separate, because
-- the passages of a page repeat its title and path, but not each other's content.
create or replace function pgrag.term_frequencies(
    search tsvector,
    field_weights real[]
)
returns table (
    lexeme text,
    header_frequency real,
    content_frequency real
)
language plpgsql
immutable
parallel safe
rows 80
set search_path from current
as $$
begin
    if 1e6 < any (field_weights) or -1e6 > any (field_weights) then
        raise exception 'field_weights must be at most 1000000, got %.', field_weights
            using errcode = 'PGR01';
    end if;
    return query
    select t.lexeme, t.header_frequency, t.content_frequency
    from _pgrag.term_frequencies(search, field_weights) as t;
end;
$$;

comment on function pgrag.term_frequencies is
'The weighted term frequencies of a tsvector: occurrences in title, path and url (header) and in the
content, each multiplied by the weight of its field. field_weights holds the weights of the labels
A, B, C, D in that order. Errors: PGR01.';

-- Without checks, for the queries that write impacts.
create or replace function _pgrag.term_frequencies(
    search tsvector,
    field_weights real[]
)
returns table (
    lexeme text,
    header_frequency real,
    content_frequency real
)
language sql
immutable
parallel safe
rows 80
as $$
    select
        term.lexeme,
        case
            -- Most lexemes are only in the content.
            when term.weights[1] = 'D' and (
                pg_catalog.cardinality(term.weights) = 1
                or pg_catalog.cardinality(pg_catalog.array_positions(term.weights, 'D'))
                    = pg_catalog.cardinality(term.weights)
            )
            then 0
            when pg_catalog.cardinality(term.weights) = 1
            then term_frequencies.field_weights[pg_catalog.ascii(term.weights[1]) - 64]
            else
                pg_catalog.cardinality(pg_catalog.array_positions(term.weights, 'A'))
                    * term_frequencies.field_weights[1]
                + pg_catalog.cardinality(pg_catalog.array_positions(term.weights, 'B'))
                    * term_frequencies.field_weights[2]
                + pg_catalog.cardinality(pg_catalog.array_positions(term.weights, 'C'))
                    * term_frequencies.field_weights[3]
        end::real,
        case
            when pg_catalog.cardinality(term.weights) = 1 and term.weights[1] <> 'D' then 0
            else pg_catalog.cardinality(pg_catalog.array_positions(term.weights, 'D'))
                * term_frequencies.field_weights[4]
        end::real
    from pg_catalog.unnest(term_frequencies.search) as term
    where term.positions is not null;
$$;
