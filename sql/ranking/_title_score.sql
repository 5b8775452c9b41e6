-- How well the query matches the titles above a passage: the mean of its squared cosines with the
-- page's and the section's title. A passage without a heading has its page's title.
create or replace function _pgrag.title_score(
    page_match double precision,
    section_match double precision
)
returns double precision
language sql
immutable
parallel safe
as $$
    select (
        title_score.page_match + coalesce(title_score.section_match, title_score.page_match)
    ) / 2;
$$;

-- How much of title_evidence counts for this query: titles are short, so the longer a query is, the
-- less it names one. 4 lexemes at most count in full; each language reads the query for itself, and
-- the one that leaves the fewest (the others know none of its stop words) tells its length.
create or replace function _pgrag.title_weight(
    terms pgrag.query_term[]
)
returns real
language sql
immutable
parallel safe
as $$
    select least(1, 4.0 / min(l.lexeme_count))::real
    from (
        select count(*) as lexeme_count
        from unnest(title_weight.terms) as t
        group by t.library_id, t.language
    ) as l;
$$;
