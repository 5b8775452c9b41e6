-- What there is, how it is searched, and what readers look for in vain.
\pset footer off
set client_min_messages = warning;
\pset null ''

\echo '# Libraries'
select library, newest, pages, passages, searches from pgrag.libraries_overview;

\echo '# Searches by day'
select day, library, searches, without_hits, weak, round(median_ms) as median_ms
from pgrag.searches_by_day
order by day desc, searches desc;

\echo '# Missed in the last 30 days: write these pages, or find out why the nearest does not help'
select topic, searches, found_little, nearest[1] as nearest_page from pgrag.gaps_now;

\echo '# The best passage for each of them today'
select g.topic, h.title, h.path[cardinality(h.path)] as section, round(h.confidence::numeric, 2) as confidence
from pgrag.gaps_now as g
cross join lateral pgrag.search(g.topic, g.library, top_k => 1) as h;
