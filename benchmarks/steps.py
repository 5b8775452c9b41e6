"""The time of each step around a plain search: understanding, reordering, facets, recording."""

import numpy as np

from benchmarks.bench import Bench, Connection
from benchmarks.figures import Figure, judged

QUERIES = 200
# Timed in the server: a client's time would include the network.
TIMER = """
create function pg_temp.steps(query text, library text, out step text, out ms double precision)
returns setof record language plpgsql as $$
declare
    request _pgrag.search_request := _pgrag.make_request(
        query, jsonb_build_object('library', library)
    );
    pool _pgrag.ranked_hit[] := ((_pgrag.rank(request, '{}', 100)).hits)[:100];
    started timestamptz;
begin
    request.top_k := 10;
    foreach step in array
        '{parse and intent, mmr, depth, breadth, overview, facets, search, recorded search}'::text[]
    loop
        request.mmr_lambda := case step when 'mmr' then 0.7 end;
        request.hierarchy := case
            when step in ('depth', 'breadth', 'overview') then step else 'none' end;
        started := clock_timestamp();
        case step
            when 'parse and intent' then
                perform pgrag.parse_query(query);
                perform * from pgrag.detect_intent(query);
            when 'facets' then perform * from pgrag.facets(query, library);
            when 'search' then perform * from pgrag.search(query, library);
            when 'recorded search' then
                perform * from pgrag.recorded_search(query, library, client => 'rest');
            else perform _pgrag.rearrange(pool, request);
        end case;
        ms := extract(epoch from clock_timestamp() - started) * 1000;
        return next;
    end loop;
end;
$$
"""
#: The timings of recorded searches.
PARTS = """
select t.part, percentile_cont(0.5) within group (order by t.ms::double precision)
from pgrag.searches as s
cross join lateral jsonb_each_text(s.timings) as t (part, ms)
where s.client = 'rest' and s.library = %s
group by t.part
"""
#: The time limit of each step, in milliseconds.
LIMITS = {
    "parse and intent": 1, "mmr": 5, "depth": 5, "breadth": 5, "overview": 5, "facets": 30,
}  # fmt: skip
NAMES = {
    "parse and intent": "parse_query and detect_intent",
    "mmr": "MMR, ten of 100 candidates",
    "facets": "pgrag.facets for a query",
}


def around_a_search(bench: Bench) -> list[Figure]:
    """Run every query through all steps; report medians."""
    library = bench.mdn()
    queries = bench.mdn_queries(QUERIES)
    with bench.connect() as connection:
        connection.execute(TIMER.encode())
        for query in queries[:10]:
            _steps(connection, query, library)
        taken = [_steps(connection, query, library) for query in queries]
        parts = dict(connection.execute(PARTS.encode(), [library]).fetchall())
    on = f"MDN, {len(queries)} queries"
    figures = []
    for step, limit in LIMITS.items():
        middle = float(np.median([times[step] for times in taken]))
        what = NAMES.get(step, f"hierarchy {step} of 100 candidates")
        figures.append(judged(what, on, middle, limit, digits=2))
    more = float(np.median([t["recorded search"] - t["search"] for t in taken]))
    by_time = sorted(parts.items(), key=lambda part: part[1])
    return [
        *figures,
        judged("recorded_search, on top of search", on, more, 1, digits=2),
        Figure("parts of a search", on, ", ".join(f"{part} {ms:.2f} ms" for part, ms in by_time)),
    ]


def _steps(connection: Connection, query: str, library: str) -> dict[str, float]:
    rows = connection.execute("select * from pg_temp.steps(%s, %s)", [query, library]).fetchall()
    return dict(rows)
