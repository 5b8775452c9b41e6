"""The notations of the command line."""

import subprocess
import sys

import pytest
import typer

from pgrag.cli.notations import (
    Target,
    as_options,
    counted,
    parse_duration,
    parse_filters,
    parse_rate,
    parse_settings,
    parse_target,
)


@pytest.mark.parametrize(("text", "target"), [
    ("jest", Target("jest", None)),
    ("jest@29.7", Target("jest", "29.7")),
    ("jest@", Target("jest", "")),
    (" team/docs@>=1 <2 ", Target("team/docs", ">=1 <2")),
    ("jest@^1@2", Target("jest", "^1@2")),
])  # fmt: skip
def test_a_library_and_what_was_said_about_its_version(text, target):
    assert parse_target(text) == target
    assert parse_target(str(target)) == target


@pytest.mark.parametrize(("conditions", "document", "filters"), [
    ([], None, None),
    (["type=guide"], None, {"type": "guide"}),
    (["created >= 2024-12-01"], None, {"created": {">=": "2024-12-01"}}),
    (["section_path=A > B"], None, {"section_path": "A > B"}),
    (["topic="], None, {"topic": ""}),
    (
        ["type=guide", "type=note", "tags!=old"],
        None,
        {"and": [{"tags": {"!=": "old"}}, {"or": [{"type": "guide"}, {"type": "note"}]}]},
    ),
    (["front_matter.effort=5"], None, {"front_matter.effort": [5, "5"]}),
    (["front_matter.effort<2.5"], None, {"front_matter.effort": {"<": 2.5}}),
    (["front_matter.draft=true"], None, {"front_matter.draft": [True, "true"]}),
    (["front_matter.a-b c=x"], None, {"front_matter.a-b c": "x"}),
    ([], '{"library": ["a", "b"]}', {"library": ["a", "b"]}),
    (
        ["type=guide"],
        '{"library": "a", "and": [{"tags": "x"}]}',
        {"library": "a", "and": [{"tags": "x"}, {"type": "guide"}]},
    ),
])  # fmt: skip
def test_conditions_become_one_filter(conditions, document, filters):
    assert parse_filters(conditions, document) == filters


def test_settings_are_json_where_they_can_be():
    assert parse_settings(["alpha=0.5", "k1=null", "field_weights.title=4", "note=a=b"]) == {
        "alpha": 0.5,
        "k1": None,
        "field_weights": {"title": 4},
        "note": "a=b",
    }
    for wrong in (["alpha"], ["=1"], ["a=1", "a.b=2"]):
        with pytest.raises(typer.BadParameter):
            parse_settings(wrong)


def test_one_is_not_many_and_durations_and_rates_are_numbers():
    assert (counted(1, "page"), counted(1200, "page")) == ("1 page", "1,200 pages")
    for text, seconds in [
        ("30s", 30),
        ("15min", 900),
        ("12h", 43_200),
        (" 90 d ", 7_776_000),
        ("1.5s", 1.5),
    ]:
        assert parse_duration(text, "--expires").total_seconds() == seconds
    for text, rate in [("10/s", 10), ("600/min", 10), ("36 / h", 0.01)]:
        assert parse_rate(text) == rate


@pytest.mark.parametrize(("module", "later"), [
    ("pgrag", {"psycopg", "pydantic", "numpy"}),
    ("pgrag.cli", {"psycopg", "pydantic", "numpy", "alembic", "fastapi", "httpx"}),
    ("pgrag.service.app", {"numpy", "alembic", "sqlalchemy", "fastapi", "httpx", "markdown_it"}),
])  # fmt: skip
def test_nothing_slow_is_imported_before_it_is_needed(module, later):
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert later & set(ended.stdout.split()) == set()


def test_what_is_no_notation_is_refused():
    with pytest.raises(typer.BadParameter, match="'30s' is too short; at least 60 seconds"):
        parse_duration("30s", "--every", least=60)
    for text in ["", "  ", "@1.0"]:
        with pytest.raises(typer.BadParameter, match="has no library"):
            parse_target(text)
    for conditions, document in [(["type"], None), (["=x"], None), ([], "[1]"), ([], "{")]:
        with pytest.raises(typer.BadParameter):
            parse_filters(conditions, document)
    for text in ["", "90", "0d", "-1d", "5m", "40000d", "1d 2h", "d"]:
        with pytest.raises(typer.BadParameter, match="not a duration"):
            parse_duration(text, "--expires")
    for text in ["", "10", "0/s", "-1/s", "10/d", "/s"]:
        with pytest.raises(typer.BadParameter, match="not a rate"):
            parse_rate(text)


@pytest.mark.parametrize(("message", "said"), [
    ("rrf_k has an effect only with fusion=rrf.", "--rrf-k has an effect only with --fusion rrf."),
    ("Pass expand=true, or leave out expansion_share.", "Pass --expand, or leave out"
     " --expansion-share."),
    ("alpha must be 0 to 1, got 7.", "--alpha must be 0 to 1, got 7."),
    ("alpha and rrf_weights are two ways to say the same.", "--alpha and --rrf-weights are two"
     " ways to say the same."),
    ("top_k must be 1 to 1000.", "--top-k must be 1 to 1000."),
    ("There is no version '3' of this library; models expand words.", None),
    ("See pgrag.rrf_k or 'rrf_k'.", None),
])  # fmt: skip
def test_errors_name_arguments_as_options(message, said):
    assert as_options(message) == (said or message)
