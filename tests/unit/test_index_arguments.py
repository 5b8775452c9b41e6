"""The arguments of indexing: every face has those that are declared, and none has others."""

import inspect
from typing import get_args

import pytest

from pgrag.api.routes.jobs import JobBody
from pgrag.cli import index as cli
from pgrag.ground.arguments import declared
from pgrag.ground.errors import InvalidInput
from pgrag.ingest.arguments import IndexArguments, JobArguments, checked, refuse_meaningless
from pgrag.ingest.remembered import options_of
from pgrag.ingest.source.sources import kind_of
from pgrag.ingest.values import CHUNK_PROFILES, ProfileName
from pgrag.mcp.tools.writing import IndexDocs

OPERATOR_ONLY = {"allow_private"}
#: What they mean would fill the context of an agent, which rarely has a reason to choose.
NOT_FOR_AGENTS = {"profile", "chunk_sizes"}
NAMES = {one.name for one in declared(JobArguments)}


def test_every_face_has_every_argument_that_its_callers_may_have():
    assert set(JobBody.model_fields) >= NAMES - OPERATOR_ONLY
    assert set(IndexDocs.model_fields) >= NAMES - OPERATOR_ONLY - NOT_FOR_AGENTS
    assert set(inspect.signature(cli.index).parameters) >= NAMES
    for model in (JobBody, IndexDocs):
        assert not OPERATOR_ONLY & set(model.model_fields)


def test_what_is_stated_is_kept_and_none_says_nothing():
    stated = {
        "include": ["guide/**"], "max_pages": 5, "include_ignored": True, "slugs": "",
        "tags": "v1.*", "ref": None, "chunk_sizes": [150, 900, 1200],
    }  # fmt: skip
    assert checked(stated, JobArguments) == {
        name: value for name, value in stated.items() if value is not None
    }


@pytest.mark.parametrize(("name", "value", "said"), [
    ("pages", 1, r"no argument 'pages'.* base_url, .*max_pages"),
    ("tags", "v1.*", "no argument 'tags'"),
    ("slugs", "jekyll", r"slugs must be one of github, .* not 'jekyll'"),
    ("slugs", ["github"], "slugs must be one of"),
    ("converter", "magic", "converter must be one of docling"),
    ("profile", "tiny", "one of by_heading, by_meaning, short, medium, long"),
    ("max_pages", 0, "max_pages must be a number from 1, not 0"),
    ("max_pages", "5", "max_pages must be a number from 1"),
    ("max_depth", True, "max_depth must be a number from 0"),
    ("include", "guide/**", "include must be a list of at most 100"),
    ("include", [1], "include must be a text"),
    ("subfolder", "a\0b", "subfolder must be a text"),
    ("include_ignored", "yes", "include_ignored must be true or false"),
    ("chunk_sizes", [1, 2], "chunk_sizes must be a list of 3"),
])  # fmt: skip
def test_what_no_run_can_have_is_refused_by_name(name, value, said):
    with pytest.raises(InvalidInput, match=said):
        checked({name: value}, IndexArguments)


def test_a_profile_keeps_its_way_to_cut_with_other_sizes():
    assert set(get_args(ProfileName)) == set(CHUNK_PROFILES)
    assert options_of({}).profile is None
    assert options_of({"profile": ""}).profile == ""
    assert options_of({"profile": "long"}).profile.maximum == 2400
    sized = options_of({"profile": "by_meaning", "chunk_sizes": [20, 200, 400]}).profile
    assert (sized.by_meaning, sized.maximum) == (True, 400)
    for wrong in ([300, 200, 400], [20, 200, 30]):
        with pytest.raises(InvalidInput, match="three increasing numbers"):
            options_of({"chunk_sizes": wrong})


@pytest.mark.parametrize(("source", "ref", "meaningless", "meant"), [
    ("docs", None, {"max_pages": 3}, {"subfolder": "a", "include_ignored": True}),
    ("docs", "main", {"allow_private": True}, {"ref": "main"}),
    ("git+https://h.example/r", None, {"max_bytes": 9}, {"allow_private": True}),
    ("https://h.example/docs/", None, {"include_ignored": True}, {"max_depth": 2}),
])  # fmt: skip
def test_what_means_nothing_for_a_kind_of_source_is_refused(source, ref, meaningless, meant):
    kind = kind_of(source, ref)
    refuse_meaningless(meant, kind)
    [name] = meaningless
    with pytest.raises(InvalidInput, match=f"{name} has no meaning for {kind}"):
        refuse_meaningless(meant | meaningless, kind)
    refuse_meaningless(meant | {name: False}, kind)
