-- How much of the titles above a passage, the page's and its section's, is the query, and of the
-- query they: the mean of the squared cosines. A passage without a heading has its page's title.
create or replace function pgrag._title_score(
    title_keywords sparsevec,
    page_title sparsevec,
    section_title sparsevec
)
returns double precision
language sql
immutable
parallel safe
as $$
    select (
        coalesce((_title_score.page_title <#> _title_score.title_keywords) ^ 2, 0)
        + coalesce(
            (_title_score.section_title <#> _title_score.title_keywords) ^ 2,
            (_title_score.page_title <#> _title_score.title_keywords) ^ 2,
            0
        )
    ) / 2;
$$;
