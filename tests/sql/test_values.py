"""Values have the columns, and the types, of the SQL functions that they are rows of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, date, datetime, timedelta
from importlib import import_module
from pkgutil import iter_modules
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

import psycopg
import pytest
from library import ingest, page, run

from pgrag.ground import values
from pgrag.ground.values.base import Value
from pgrag.ground.values.changes import SectionVersion
from pgrag.ground.values.configuration import (
    ConfigurationChange,
    ConfigurationVersion,
    OutdatedVersion,
)
from pgrag.ground.values.evaluation import (
    EvaluatedResult,
    EvaluationRun,
    EvaluationSet,
    MovedQuery,
    Tuning,
)
from pgrag.ground.values.graph import (
    Backlink,
    Edge,
    EdgeHit,
    Link,
    Neighbour,
    PathStep,
    RelatedPage,
)
from pgrag.ground.values.jobs import Job, JobSummary
from pgrag.ground.values.libraries import (
    EnrichmentFailure,
    EnrichmentState,
    FoundLibrary,
    Library,
    LibraryFinding,
    OutlineEntry,
    Page,
    PageName,
    PageSummary,
    Synonym,
    TextLine,
    Version,
)
from pgrag.ground.values.observation import (
    AnswerMetrics,
    EmptyQuery,
    Gap,
    PopularQuery,
    RecordedSearch,
    SearchMetrics,
)
from pgrag.ground.values.passages import ContextBlock, Hit, PageHit, Passage
from pgrag.ground.values.properties import PageProperty, PageQueryRow, Property
from pgrag.ground.values.searches import FacetValue, Intent, ParsedQuery, Resolution, Suggestion

#: The functions that return rows of a value, and what the faces add to or take from the columns.
ROWS: list[tuple[type[Value], str, set[str], set[str]]] = [
    (Hit, "search keyword_search semantic_search recorded_search", set(), set()),
    (PageHit, "search_pages", set(), set()),
    (Passage, "document parent children siblings ancestors expand_documents", set(), set()),
    (ContextBlock, "context", set(), set()),
    (Resolution, "resolve_version", {"library"}, set()),
    (FacetValue, "facets", set(), {"facet"}),
    (ParsedQuery, "parse_query", set(), set()),
    (Suggestion, "suggest", set(), set()),
    (Intent, "detect_intent", set(), set()),
    (Library, "libraries", set(), set()),
    (FoundLibrary, "find_libraries", set(), set()),
    (Version, "library_versions", {"library"}, set()),
    (PageName, "find_page", set(), set()),
    (PageSummary, "pages", set(), set()),
    (OutlineEntry, "outline", set(), set()),
    (SectionVersion, "section_history", set(), set()),
    (Synonym, "synonyms", set(), set()),
    (EnrichmentState, "enrichment_state", set(), set()),
    (EnrichmentFailure, "enrichment_failures", set(), set()),
    (LibraryFinding, "check_library", set(), set()),
    (TextLine, "search_text", set(), set()),
    (PageQueryRow, "query_pages", set(), {"columns"}),
    (Property, "properties", set(), set()),
    (
        PageProperty,
        "page_properties",
        set(),
        {"as_text", "as_number", "as_boolean", "as_moment", "as_duration"},
    ),
    (Backlink, "backlinks", set(), set()),
    (RelatedPage, "related_pages", set(), set()),
    (Neighbour, "neighbourhood", set(), set()),
    (Edge, "edges", set(), set()),
    (PathStep, "shortest_path", set(), set()),
    (EdgeHit, "search_edges", set(), set()),
    (Link, "links", set(), set()),
    (SearchMetrics, "search_metrics", set(), set()),
    (AnswerMetrics, "answer_metrics", set(), set()),
    (PopularQuery, "popular_queries", set(), set()),
    (EmptyQuery, "empty_queries", set(), set()),
    (Gap, "gaps", set(), set()),
    (RecordedSearch, "search_history", set(), set()),
    (EvaluationSet, "evaluation_sets", set(), set()),
    (EvaluationRun, "evaluation_runs", set(), set()),
    (MovedQuery, "moved_queries", set(), set()),
    (EvaluatedResult, "evaluation_answer", set(), set()),
    (Tuning, "tune tuning_history undo_tuning", set(), set()),
    (ConfigurationChange, "apply_configuration compare_configuration", set(), set()),
    (ConfigurationVersion, "configuration_history", set(), set()),
    (OutdatedVersion, "outdated_pages", set(), {"source"}),
    (JobSummary, "jobs", set(), set()),
    (Job, "job", set(), set()),
]
#: Values that the faces compose of rows, and those that functions return as one JSON object.
COMPOSED = {
    "Answer", "AnswerIntent", "BatchItem", "BatchResult", "Citation", "Comparison",
    "Configuration", "ConfigurationChanges", "Context", "EdgeList", "EdgeResult", "Enrichment",
    "EvaluationRunList", "Facets", "FeedbackReceipt", "GainComparison", "ImportedSet", "JobState",
    "LibraryHealth", "LinkList", "NearPage", "Page", "PageChange", "PageList", "PageQueryResult",
    "PageResult", "PropertyList", "QueryFailure", "RelatedSection", "RemovedPages", "RemovedRun",
    "RemovedSet", "SearchRecord", "SearchResult", "SectionChange", "SentPage", "Sentence", "Source",
    "Surroundings", "TextLines", "TextMatch", "TuningVerdict", "Usage", "VersionChanges",
    "VersionRead", "Versioned",
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


def value_classes() -> Iterator[type[Value]]:
    for module in iter_modules(values.__path__, "pgrag.ground.values."):
        for name, member in vars(import_module(module.name)).items():
            is_value = isinstance(member, type) and issubclass(member, Value)
            if is_value and member is not Value and not name.startswith("_"):
                yield member


def bare(hint: Any) -> Any:
    """The type of a field in a row that has a value there; a Literal is a text."""
    inner = [choice for choice in get_args(hint) if choice is not NoneType]
    if NoneType in get_args(hint):
        hint = inner[0]
    return str if get_origin(hint) is Literal else hint


@pytest.mark.parametrize(
    ("value", "functions", "added", "omitted"), ROWS, ids=[row[0].__name__ for row in ROWS]
)
def test_a_value_has_the_columns_of_its_functions(
    connection: psycopg.Connection[dict[str, Any]],
    value: type[Value],
    functions: str,
    added: set[str],
    omitted: set[str],
) -> None:
    hints = get_type_hints(value)
    types = {
        each.metadata.get("alias", each.name): bare(hints[each.name]) for each in fields(value)
    }
    for function in functions.split():
        columns = {
            row["name"]: row["type"] for row in connection.execute(COLUMNS, [function]).fetchall()
        }
        assert types.keys() - added == columns.keys() - omitted, function
        for name in types.keys() - added:
            if columns[name] not in {"json", "jsonb"}:
                assert types[name] == TYPES[columns[name]], (function, name)


def test_every_value_is_composed_or_has_a_function() -> None:
    names = {value.__name__ for value in value_classes()}
    assert names == {value.__name__ for value, *_ in ROWS} | COMPOSED


def test_every_value_is_frozen_slotted_and_has_a_docstring() -> None:
    for value in value_classes():
        assert value.__dataclass_params__.frozen, value
        assert "__slots__" in vars(value), value
        assert value.__doc__, value
        assert not value.__doc__.startswith(f"{value.__name__}("), value


def test_a_row_becomes_a_value() -> None:
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


def test_lists_and_json_become_tuples_values_and_times(
    connection: psycopg.Connection[dict[str, Any]],
) -> None:
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
    read_page = Page.from_row(row["page"])
    assert read_page.created == datetime(2025, 1, 2, tzinfo=UTC)
    assert read_page.tags == ("tides",)
    assert isinstance(read_page.indexed_at, datetime)
    assert {each.name for each in fields(Page)} == row["page"].keys()
