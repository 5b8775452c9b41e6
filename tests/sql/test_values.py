"""Values have the columns, and the types, of the SQL functions that they are rows of."""

from dataclasses import FrozenInstanceError, fields
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType
from typing import Literal, get_args, get_origin, get_type_hints
from uuid import UUID

import pytest
from library import ingest, page, run

from pgrag.ground import values
from pgrag.ground.values.base import Value
from pgrag.ground.values.libraries import Page, TextLine
from pgrag.ground.values.searches import Resolution

#: Values, and the functions that return rows of them.
ROWS = {
    "Hit": "search keyword_search semantic_search recorded_search", "PageHit": "search_pages",
    "Passage": "document parent children siblings ancestors expand_documents",
    "ContextBlock": "context", "Resolution": "resolve_version",
    "PinnedVersion": "pinned_versions", "FacetValue": "facets",
    "ParsedQuery": "parse_query", "Suggestion": "suggest", "Intent": "detect_intent",
    "Library": "libraries", "FoundLibrary": "find_libraries", "Version": "library_versions",
    "PageName": "find_page", "PageSummary": "pages", "ReadingState": "reading_state",
    "OutlineEntry": "outline", "SectionVersion": "section_history", "Synonym": "synonyms",
    "PageVersion": "page_versions", "AdjacentPage": "adjacent_pages",
    "EnrichmentState": "enrichment_state", "EnrichmentFailure": "enrichment_failures",
    "LibraryFinding": "check_library", "TextLine": "search_text", "PageQueryRow": "query_pages",
    "Property": "properties", "PageProperty": "page_properties", "Backlink": "backlinks",
    "RelatedPage": "related_pages", "Neighbour": "neighbourhood", "Edge": "edges",
    "PathStep": "shortest_path", "EdgeHit": "search_edges", "Link": "links",
    "SearchMetrics": "search_metrics", "AnswerMetrics": "answer_metrics",
    "PopularQuery": "popular_queries", "EmptyQuery": "empty_queries", "Gap": "gaps",
    "RecordedSearch": "search_history", "EvaluationSet": "evaluation_sets",
    "EvaluationRun": "evaluation_runs", "MovedQuery": "moved_queries",
    "Judgement": "evaluation_judgements", "GradedResult": "judge", "AuditEntry": "audit_log",
    "EvaluatedResult": "evaluation_answer", "Tuning": "tune tuning_history undo_tuning",
    "ConfigurationChange": "apply_configuration compare_configuration",
    "ConfigurationVersion": "configuration_history", "OutdatedVersion": "outdated_pages",
    "JobSummary": "jobs", "Job": "job", "IndexedTable": "indexed_tables",
    "RefreshedTable": "refresh_table",
}  # fmt: skip
#: What the faces add to the columns, and what they leave out.
ADDED = {"Resolution": {"library"}, "SectionVersion": {"diff"}, "Version": {"library"}}
OMITTED = {
    "FacetValue": {"facet"}, "PageQueryRow": {"columns"}, "OutdatedVersion": {"source"},
    "PageProperty": {"as_text", "as_number", "as_boolean", "as_moment", "as_duration"},
}  # fmt: skip
#: Values that the faces compose of rows, and those that functions return as one JSON object.
COMPOSED = {
    "Abilities", "Answer", "AnswerIntent", "BatchItem", "BatchResult", "CallingKey", "Citation",
    "Comparison", "Configuration", "ConfigurationChanges", "Context", "EdgeList", "EdgeResult",
    "Enrichment", "EvaluationRunList", "FacetTotal", "Facets", "Feature", "FeedbackReceipt",
    "GainComparison", "ImportedSet", "JobState", "JudgementList", "LibraryHealth", "LinkList",
    "Listing",
    "MarkedPassage", "NearPage", "Page", "PageChange", "PageGroup", "PageList", "PageQueryResult",
    "PageResult", "PropertyList", "QueryFailure", "RelatedSection", "RemovedPages", "RemovedRun",
    "RemovedSet", "RenderedPage", "SearchRecord", "SearchResult", "SectionChange", "SentPage",
    "Sentence", "ServiceState", "Source", "Surroundings", "TextLines", "TextMatch", "TuningVerdict",
    "Usage", "VersionChanges", "VersionRead", "Versioned",
}  # fmt: skip
TYPES = {
    "bigint": int, "integer": int, "smallint": int, "boolean": bool, "text": str, "uuid": UUID,
    "double precision": float, "real": float, "date": date, "timestamp with time zone": datetime,
    "interval": timedelta,
    "text[]": tuple[str, ...], "bigint[]": tuple[int, ...], "integer[]": tuple[int, ...],
}  # fmt: skip
COLUMNS = """
select
    coalesce(a.attname::text, argument.name) as name,
    format_type(coalesce(a.atttypid, argument.type), null) as type
from pg_proc as p
left join pg_type as t on t.oid = p.prorettype and t.typrelid <> 0
left join pg_attribute as a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
left join lateral unnest(p.proargnames, p.proargmodes, p.proallargtypes)
    as argument (name, mode, type) on t.oid is null and argument.mode in ('t', 'o', 'b')
where p.pronamespace = 'pgrag'::regnamespace and p.proname = %s
    and (a.attname is not null or argument.name is not null)
"""


def value_classes():
    for module in iter_modules(values.__path__, "pgrag.ground.values."):
        for name, member in vars(import_module(module.name)).items():
            is_value = isinstance(member, type) and issubclass(member, Value)
            if is_value and member is not Value and not name.startswith("_"):
                yield member


def bare(hint):
    """The type of a field in a row that has a value there; a Literal is a text."""
    inner = [choice for choice in get_args(hint) if choice is not NoneType]
    if NoneType in get_args(hint):
        hint = inner[0]
    return str if get_origin(hint) is Literal else hint


@pytest.mark.parametrize("name", ROWS)
def test_a_value_has_the_columns_of_its_functions(connection, name):
    [value] = {each for each in value_classes() if each.__name__ == name}
    hints = get_type_hints(value)
    types = {
        each.metadata.get("alias", each.name): bare(hints[each.name]) for each in fields(value)
    }
    own = types.keys() - ADDED.get(name, set())
    for function in ROWS[name].split():
        columns = {
            row["name"]: row["type"] for row in connection.execute(COLUMNS, [function]).fetchall()
        }
        assert own == columns.keys() - OMITTED.get(name, set()), function
        for column in own:
            if columns[column] not in {"json", "jsonb"}:
                assert types[column] == TYPES[columns[column]], (function, column)


def test_every_value_is_frozen_and_composed_or_of_a_function():
    assert {value.__name__ for value in value_classes()} == ROWS.keys() | COMPOSED
    for value in value_classes():
        assert value.__dataclass_params__.frozen, value
        assert "__slots__" in vars(value), value
        assert value.__doc__, value
        assert not value.__doc__.startswith(f"{value.__name__}("), value


def test_rows_become_values_with_tuples_and_times(connection):
    row = {
        "library": "harbour", "reason": "the newest release", "version_id": 3, "version": "2.1",
        "further": 1,
    }  # fmt: skip
    resolution = Resolution.from_row(row)
    assert resolution == Resolution(
        library="harbour", version="2.1", version_id=3, reason="the newest release"
    )
    with pytest.raises(FrozenInstanceError):
        resolution.version = "1"
    with pytest.raises(TypeError, match="reason"):
        Resolution.from_row({name: row[name] for name in row if name != "reason"})
    line = {
        "page_id": 1, "key": "a.md", "title": "A", "line": 1, "column": 1, "content": "tide",
        "matches": [{"start": 1, "end": 5}], "lines_before": [], "lines_after": ["b"],
        "document_id": None, "cursor": "a.md:1",
    }  # fmt: skip
    read = TextLine.from_row(line)
    assert read.matches[0].end == 5
    assert read.lines_after == ("b",)
    written = page("a.md", "High tide.", tags=["tides"], created="2025-01-02T00:00:00Z")
    [stored] = ingest(connection, "harbour", [written], embed=False)
    [row] = run(connection, "page", page_id=stored["page_id"])
    read_page = Page.from_row(row)
    assert read_page.created == datetime(2025, 1, 2, tzinfo=UTC)
    assert read_page.tags == ("tides",)
    assert isinstance(read_page.indexed_at, datetime)
    assert {each.name for each in fields(Page)} == row.keys()
