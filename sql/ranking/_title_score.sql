-- How well the query matches the titles above a passage: the mean of its squared cosines with the
-- page's and the section's title. A passage without a heading has its page's title.
create or replace function _pgrag.title_score(
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
        coalesce((title_score.page_title <#> title_score.title_keywords) ^ 2, 0)
        + coalesce(
            (title_score.section_title <#> title_score.title_keywords) ^ 2,
            (title_score.page_title <#> title_score.title_keywords) ^ 2,
            0
        )
    ) / 2;
$$;
