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
