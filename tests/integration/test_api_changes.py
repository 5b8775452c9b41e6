"""What changed between versions, over REST."""

from promised_shapes import assert_promised

CHANGES = "/v1/libraries/harbour/changes"


def test_what_changed_between_two_versions(harbour):
    address = f"{CHANGES}?from_version=1.0&to_version=2.1"
    answer = harbour.ok(address)
    assert_promised(address, answer)
    assert answer["from_version"] == {"library": "harbour", "version": "1.0", "reason": "exact"}
    assert [(page["change"], page["key"]) for page in answer["pages"]] == [
        ("added", "navigation/index.md"),
        ("added", "navigation/tides.md"),
    ]
    newest = harbour.ok(f"{CHANGES}?from_version=1")
    assert newest["pages"] == answer["pages"]
    assert newest["to_version"]["reason"] == "the newest release"
    assert newest["from_version"]["reason"] == "the newest version in the range 1"


def test_one_page_with_its_diff(harbour):
    answer = harbour.ok(
        f"{CHANGES}?from_version=2.1&to_version=1.0&page=navigation/tides.md&diff=true"
    )
    [page] = answer["pages"]
    assert page["change"] == "removed"
    assert page["diff"].splitlines()[:2] == ["--- navigation/tides.md@2.1", "+++ /dev/null"]
    assert "-## Spring tides" in page["diff"].splitlines()


def test_names_with_slashes_and_documentation_without_versions(harbour):
    answer = harbour.ok("/v1/libraries/port/authority/changes?from_version=-")
    assert answer["pages"] == []
    assert answer["from_version"]["version"] == ""
