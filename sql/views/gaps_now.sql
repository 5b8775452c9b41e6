-- The function with its defaults, so that reports and joins need no arguments.
create or replace view pgrag.gaps_now with (security_invoker = true) as
select
    g.topic,
    g.library_name as library,
    g.searches,
    g.found_nothing,
    g.found_little,
    g.rephrased,
    g.rated_badly,
    g.examples,
    array(select p ->> 'title' from jsonb_array_elements(g.pages) as p) as nearest,
    g.last_at,
    g.pages
from pgrag.gaps() as g;

comment on view pgrag.gaps_now is
'The 20 topics that readers missed most in the last 30 days; pgrag.gaps takes other days and more.';
comment on column pgrag.gaps_now.topic is 'The most frequent query of the topic.';
comment on column pgrag.gaps_now.library is 'Library searched; null: several or all.';
comment on column pgrag.gaps_now.searches is 'Number of searches that missed it.';
comment on column pgrag.gaps_now.found_nothing is 'Those without a hit.';
comment on column pgrag.gaps_now.found_little is 'Those whose best hit is most likely no answer.';
comment on column pgrag.gaps_now.rephrased is 'Those asked again in other words within 2 minutes.';
comment on column pgrag.gaps_now.rated_badly is 'Those whose ratings have a mean of 2 or less.';
comment on column pgrag.gaps_now.examples is 'Queries of the topic, as readers wrote them.';
comment on column pgrag.gaps_now.nearest is 'Titles of the nearest pages there are.';
comment on column pgrag.gaps_now.last_at is 'When it was last missed.';
comment on column pgrag.gaps_now.pages is 'The nearest pages, with key, url and score.';
