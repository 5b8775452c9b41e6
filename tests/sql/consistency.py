"""Everything that is kept beside the rows must be what the rows say."""

#: test_check_library proves that the check sees each kind of fault. Some tests neither embed nor
#: finish a version: texts without vectors, and older ranks of pages, are no faults here.
FAULTS = """
select l.name, f.problem, f.count, f.examples
from pgrag.libraries as l
cross join lateral pgrag.check_library(l.name) as f
where not starts_with(f.problem, 'a text without a vector')
    and not starts_with(f.problem, 'page ranks from before')
"""
#: The check takes the lengths of pages for granted: content, and once title, path and url.
PAGE_LENGTHS = """
with terms as (
    select
        d.library_id, d.page_id, t.lexeme,
        max(t.header_frequency) + sum(t.content_frequency) as frequency
    from pgrag.documents as d
    join pgrag.libraries as l on l.library_id = d.library_id
    cross join lateral _pgrag.term_frequencies(
        d.search, _pgrag.field_weights(_pgrag.effective_settings(l.settings))
    ) as t
    where d.level = 2
    group by d.library_id, d.page_id, t.lexeme
)
select p.key, p.length, t.length as counted
from pgrag.pages as p
cross join lateral (
    select coalesce(sum(t.frequency), 0) as length
    from terms as t
    where t.library_id = p.library_id and t.page_id = p.page_id
) as t
where abs(p.length - t.length) > 1e-3 + 1e-5 * t.length
"""


def assert_consistent(connection):
    """Raises AssertionError where a count, a statistic or a copy has drifted from the rows."""
    for query in (FAULTS, PAGE_LENGTHS):
        assert connection.execute(query).fetchall() == []
