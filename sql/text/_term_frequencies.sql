-- BM25F multiplies each occurrence by the weight of its field (Robertson, Zaragoza, Taylor: Simple
-- BM25 extension to multiple weighted fields, CIKM 2004). Header and content are separate, because
-- the passages of a page repeat its title and path, but not each other's content.
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
