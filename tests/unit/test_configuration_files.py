"""YAML to a configuration: lines in errors, and back again without a difference."""

from pathlib import Path

import pytest

from pgrag.ground.errors import InvalidInput
from pgrag.service.configuration import read_configuration, shipped, to_yaml


def test_entries_know_their_lines_and_what_is_no_configuration_is_refused():
    read = read_configuration("rules:\n  a:\n    words: [b]\n    confidence: 7\n", "my.yaml")
    assert read.value == {"rules": {"a": {"words": ["b"], "confidence": 7}}}
    confidence = pytest.raises(InvalidInput, match=r"^my\.yaml:4: rules/a/confidence: must be")
    with confidence, read.located_errors():
        raise InvalidInput("rules/a/confidence: must be a number.")
    with pytest.raises(InvalidInput, match=r"^my\.yaml:2: rules/a: needs"), read.located_errors():
        raise InvalidInput("rules/a: needs an intent.")
    with pytest.raises(InvalidInput, match=r"^Something else"), read.located_errors():
        raise InvalidInput("Something else.")
    for text, message in [
        ("rules: [", r"^f\.yaml:\d: this is not YAML"),
        ("rules:\n  a: {}\n  a: {}\n", r"^f\.yaml:3: 'a' is there twice"),
        ("- a\n", r"^f\.yaml:1: a configuration is a mapping"),
        ("", r"^f\.yaml:1: a configuration is a mapping"),
        (
            "a: 1\nrules: " + "[" * 100_000 + "]" * 100_000,
            r'^f\.yaml:2: this is not YAML: "rules" is nested deeper than 30 levels',
        ),
    ]:
        with pytest.raises(InvalidInput, match=message):
            read_configuration(text, "f.yaml")


def test_the_shipped_file_is_in_the_package_and_read_back_as_it_was():
    package = Path(__file__).parents[2] / "src" / "pgrag" / "service" / "configuration"
    assert (package / "defaults.yaml").is_file()
    sections = {"intents", "query_types", "rules", "page_types", "edge_kinds", "templates"}
    assert sections == set(shipped().value)
    value = shipped().value
    assert read_configuration(to_yaml(value), "again").value == value
