"""Which version a wish stands for, and why; never a silent substitute."""

import re
from functools import cmp_to_key
from itertools import pairwise, zip_longest

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from library import Row, ingest, page, refused, run, search, value


def make(connection, *labels: str, library: str = "tool") -> None:
    """A library with these versions, made in this order."""
    for label in labels:
        ingest(connection, library, [page("a.md", f"Text of {label}.")], label, embed=False)


def resolve(connection, wanted: str | None, library: str = "tool") -> Row:
    arguments = {} if wanted is None else {"wanted": wanted}
    [row] = run(connection, "resolve_version", library=library, **arguments)
    return row


RELEASES = ["29.7.0", "30.0.0", "30.1.0-beta.2", "30.1.0-beta.10", "v30.2.1", "31.0.0-rc.1", "next"]


class TestWish:
    @pytest.mark.parametrize(("wanted", "version", "reason"), [
        (None, "v30.2.1", "the newest release"),
        ("", "v30.2.1", "the newest release"),
        ("latest", "v30.2.1", "the newest release"),
        (" LATEST ", "v30.2.1", "the newest release"),
        ("29.7.0", "29.7.0", "exact"),
        (" NEXT ", "next", "exact"),
        ("v30.2.1", "v30.2.1", "exact"),
        ("30.1.0-beta.2", "30.1.0-beta.2", "exact"),
        ("30", "v30.2.1", "the newest version in the range 30"),
        ("30.0", "30.0.0", "the newest version in the range 30.0"),
        ("v30", "v30.2.1", "the newest version in the range v30"),
        ("30.x", "v30.2.1", "the newest version in the range 30.x"),
        ("^29.1", "29.7.0", "the newest version in the range ^29.1"),
        ("~30.0", "30.0.0", "the newest version in the range ~30.0"),
        (">=29 <30", "29.7.0", "the newest version in the range >=29 <30"),
        ("<30 || 31.x", "29.7.0", "the newest version in the range <30 || 31.x"),
        (">30.0.0", "v30.2.1", "the newest version in the range >30.0.0"),
        ("<=30.0.0", "30.0.0", "the newest version in the range <=30.0.0"),
        ("=30.0.0", "30.0.0", "the newest version in the range =30.0.0"),
        (">=31.0.0-rc.0", "31.0.0-rc.1", "the newest version in the range >=31.0.0-rc.0"),
        ("^30.1.0-beta.1 <30.2", "30.1.0-beta.10", "the newest version in the range"),
        ("30.1.5", "30.0.0", "30.1.5 is not indexed; the newest version before it"),
        ("30.2.0", "v30.2.1", "30.2.0 is not indexed; the nearest version above it, of the same"),
        ("32.0.0", "v30.2.1", "32.0.0 is not indexed; the newest version before it"),
        ("30.1.0-beta.9", "30.1.0-beta.2", "30.1.0-beta.9 is not indexed; the newest version"),
        ("31.0.0", "v30.2.1", "31.0.0 is not indexed; the newest version before it"),
        ("33", "v30.2.1", "33 is not indexed; the newest version before it"),
    ])  # fmt: skip
    def test_among_releases(self, connection, wanted, version, reason):
        make(connection, *RELEASES)
        row = resolve(connection, wanted)
        assert row["version"] == version
        assert row["reason"].startswith(reason)
        label = value(
            connection, "select label from pgrag.versions where version_id = %s", row["version_id"]
        )
        assert label == version

    @pytest.mark.parametrize(("wanted", "version", "reason"), [
        ("26.0.1", "26.6.3", "the nearest version above it, of the same major"),
        ("26.6.0", "26.6.3", "the nearest version above it, of the same minor"),
        ("26.6.9", "26.6.3", "the newest version before it"),
        ("26.9", "26.6.3", "the newest version before it"),
        ("~26.0.1", "26.6.3", "the nearest version above it, of the same major"),
        ("26.6.3-next.1", "26.6.3", "the nearest version above it, of the same minor"),
        ("27.4.0", "27.0.6", "the newest version before it"),
        ("35.1.0", "27.0.6", "the newest version before it, of an older major"),
        ("28", "27.0.6", "the newest version before it, of an older major; it has only"
         " pre-releases: write 28.0.0-alpha.2 for the newest"),
        ("28.0.0", "27.0.6", "the newest version before it, of an older major; it has only"
         " pre-releases: write 28.0.0-alpha.2 for the newest"),
        ("28.1", "27.0.6", "the newest version before it, of an older major"),
    ])  # fmt: skip
    def test_what_is_not_indexed_is_read_in_its_minor_else_its_major(
        self, connection, wanted, version, reason
    ):
        make(connection, "25.5.4", "26.6.3", "27.0.6", "28.0.0-alpha.1", "28.0.0-alpha.2")
        row = resolve(connection, wanted)
        assert (row["version"], row["reason"]) == (version, f"{wanted} is not indexed; {reason}")

    def test_pre_releases_are_named_where_nothing_else_is_there(self, connection):
        make(connection, "28.0.0-alpha.1")
        for wanted in ("28", "28.0.0", "^28"):
            with refused(connection, "PGR03", wanted, "only pre-releases: write 28.0.0-alpha.1"):
                resolve(connection, wanted)
        assert resolve(connection, "28.0.0-alpha.7")["version"] == "28.0.0-alpha.1"

    @pytest.mark.parametrize(("labels", "wanted", "version", "reason"), [
        (["v1.28", "v1.29", "v1.30"], "1.29", "v1.29", "the newest version in the range 1.29"),
        (["release-1.28", "release-1.29"], "1.29.4", "release-1.29", "1.29.4 is a release of"),
        (["release-1.9", "release-1.10"], None, "release-1.10", "the newest release"),
        (["1.29", "1.30"], "release-1.29", "1.29", "the newest version in the range release-1.29"),
        (["v1.2.3", "2.0.0"], "1.2.3", "v1.2.3", "exact"),
        (["1.2.3+build.5", "2.0.0"], "1.2.3", "1.2.3+build.5", "exact"),
        (["2024.1", "2024.2", "2025.1"], "2024.3", "2024.2", "2024.3 is not indexed; the newest"),
        (["2024-01-15", "2023-06-30"], None, "2024-01-15", "the newest release"),
        (["2024-01-15", "2023-06-30"], "2023-12-01", "2023-06-30", "2023-12-01 is not indexed"),
        (["1.x", "2.x"], "1.7.2", "1.x", "1.7.2 is a release of 1.x"),
        (["1.2.3.4", "1.2.3.10", "1.2.4.0"], "1.2.3.11", "1.2.3.10", "1.2.3.11 is not indexed"),
        (["1.2.3.4", "1.2.3.10"], "1.2", "1.2.3.10", "the newest version in the range 1.2"),
        (["stable/2024.1", "stable/2024.2"], "2024.1", "stable/2024.1", "the newest version in"),
    ])  # fmt: skip
    def test_odd_labels(self, connection, labels, wanted, version, reason):
        make(connection, *labels)
        row = resolve(connection, wanted)
        assert row["version"] == version
        assert row["reason"].startswith(reason)

    @pytest.mark.parametrize(
        "wanted", ["1.0.0", "28", "^32", "stable", ">31", "<29", "1.2.3.4", "nxt"]
    )
    def test_what_does_not_exist_lists_what_does(self, connection, wanted):
        make(connection, *RELEASES)
        hint = "v30.2.1, 30.1.0-beta.10, 30.1.0-beta.2, 30.0.0, 29.7.0, next."
        with refused(connection, "PGR03", f"'tool' has no version that fits '{wanted}'", hint):
            resolve(connection, wanted)

    @pytest.mark.parametrize("wanted", ["1.0.0", "28", "stable", "^32"])
    def test_unversioned_documentation_answers_for_what_is_missing(self, connection, wanted):
        make(connection, "", "29.0.0")
        row = resolve(connection, wanted)
        assert (row["version"], row["reason"]) == (
            "", f"{wanted} is not indexed; the unversioned documentation",
        )  # fmt: skip

    @pytest.mark.parametrize(("labels", "version", "reason"), [
        ([""], "", "the library has no versions"),
        (["", "1.0.0"], "1.0.0", "the newest release"),
        (["stable", "next"], "next", "the newest tag; there is no release"),
        (
            ["2.0.0-rc.1", "2.0.0-beta.1", "main"],
            "2.0.0-rc.1",
            "the newest pre-release; there is no",
        ),
        (["2.0.0-rc.1", "1.0"], "1.0", "the newest release"),
        (["main", ""], "", "the library has no versions"),
        (["1.9", "1.10", "v2"], "v2", "the newest release"),
        (["latest", "9.0.0"], "9.0.0", "the newest release"),
    ])  # fmt: skip
    def test_newest(self, connection, labels, version, reason):
        make(connection, *labels)
        row = resolve(connection, None)
        assert row["version"] == version
        assert row["reason"].startswith(reason)

    def test_a_label_called_latest_is_meant_by_its_name(self, connection):
        make(connection, "latest", "9.0.0")
        assert resolve(connection, "latest")["reason"] == "exact"

    def test_version_in_the_making_is_no_newest(self, connection):
        make(connection, "1.0.0")
        ingest(connection, "tool", [page("a.md", "New.")], "2.0.0", embed=False, ready=False)
        assert resolve(connection, None)["version"] == "1.0.0"
        assert resolve(connection, "^1 || ^2")["version"] == "1.0.0"
        assert resolve(connection, "2.0.0")["reason"] == "exact (its indexing is not finished)"

    def test_partial_label_that_exists_is_exact(self, connection):
        make(connection, "1.2", "1.2.3")
        assert resolve(connection, "1.2")["version"] == "1.2"
        assert resolve(connection, "1.x")["version"] == "1.2.3"

    @pytest.mark.parametrize(
        "wanted", ["><1", "1 <=> 2", ">=", "'; drop table x; --", "%s", "*", "x" * 5000]
    )
    def test_wishes_that_cannot_be_read(self, connection, wanted):
        make(connection, "1.0.0")
        try:
            with connection.transaction():
                assert resolve(connection, wanted)["version"] == "1.0.0"
        except psycopg.Error as error:
            if error.sqlstate not in ("PGR01", "PGR03"):
                raise


class TestLibraryNames:
    @pytest.fixture
    def libraries(self, connection):
        for name in ("react", "react-native", "preact", "kubernetes", "postgresql"):
            make(connection, "", library=name)

    @pytest.mark.parametrize(("wanted", "hint"), [
        ("raect", "Did you mean react? The libraries are: kubernetes, "),
        ("React Native", "Did you mean react-native, react"),
        ("kubernets", "Did you mean kubernetes?"),
        ("postgres", "Did you mean postgresql?"),
        ("django", "The libraries are: kubernetes, postgresql, preact, react, react-native."),
    ])  # fmt: skip
    def test_unknown_one_gets_the_near_ones_and_all(self, connection, libraries, wanted, hint):
        with refused(connection, "PGR02", f"There is no library '{wanted}'.", hint):
            resolve(connection, None, library=wanted)
        with refused(connection, "PGR02", "", hint):
            search(connection, "text", library=wanted)

    def test_of_many_libraries_the_first_ten(self, connection):
        for number in range(12):
            make(connection, "", library=f"tool-{number:02}")
        with refused(connection, "PGR02", "", "tool-08, tool-09 and 2 more."):
            resolve(connection, None, library="x")

    def test_unknown_version_gets_the_near_ones_and_all(self, connection):
        make(connection, "main", "1.4", "2.0")
        with refused(connection, "PGR03", "", "Did you mean main? It has: 2.0, 1.4, main."):
            resolve(connection, "mains")
        with refused(connection, "PGR03", "", "It has: 2.0, 1.4, main."):
            resolve(connection, "nightly")

    def test_unknown_model_gets_the_near_ones_and_all(self, connection):
        with refused(connection, "PGR09", "", "mean static-en-de-ru-256? Registered: static"):
            run(connection, "embed", input="x", model="static-docs")
        with refused(connection, "PGR09", "", "Registered: static-en-de-ru-256."):
            run(connection, "embed", input="x", model="ada")

    def test_library_without_a_version(self, connection, libraries):
        assert resolve(connection, None, library=" REACT ")["version"] == ""
        run(connection, "remove_version", library="react")
        with refused(connection, "PGR03", "", "It has no version yet."):
            resolve(connection, None, library="react")
        with refused(connection, "PGR03", "", "It has no version yet."):
            search(connection, "text", library="react")
        with refused(connection, "PGR03", "", "It has no version yet."):
            search(connection, "text", filters={"library": ["preact", "react"]})
        with refused(connection, "PGR02", "no library 'reactor'"):
            search(connection, "text", filters={"library": ["preact", "reactor"], "version": "*"})
        assert search(connection, "text", library="react", version="*") == []
        assert {hit["library"] for hit in search(connection, "text")} == {
            "react-native", "preact", "kubernetes", "postgresql",
        }  # fmt: skip

    def test_without_any_library(self, connection):
        with refused(connection, "PGR02", "no library 'x'", "No library is indexed yet"):
            search(connection, "text", library="x")
        assert search(connection, "text") == []


class TestScope:
    def test_searches_look_into_the_version_that_is_meant(self, connection):
        make(connection, "1.0.0", "2.0.0", "3.0.0-rc.1")
        for version, expected in {
            None: {"2.0.0"}, "1.x": {"1.0.0"}, "3.0.0-rc.1": {"3.0.0-rc.1"},
            "*": {"1.0.0", "2.0.0", "3.0.0-rc.1"},
        }.items():  # fmt: skip
            hits = search(
                connection, "text", library="tool", **({"version": version} if version else {})
            )
            assert {hit["version"] for hit in hits} == expected

    def test_no_library_means_each_in_its_newest_version(self, connection):
        make(connection, "1.0.0", "2.0.0", library="one")
        make(connection, "", library="two")
        hits = search(connection, "text")
        assert {(hit["library"], hit["version"]) for hit in hits} == {("one", "2.0.0"), ("two", "")}
        hits = search(connection, "text", version="*")
        assert len(hits) == 3

    def test_version_that_a_library_lacks(self, connection):
        make(connection, "1.0.0")
        with refused(
            connection, "PGR03", "'tool' has no version that fits '0.1'", "It has: 1.0.0."
        ):
            search(connection, "text", library="tool", version="0.1")

    def test_version_in_the_filters(self, connection):
        make(connection, "1.0.0", "2.0.0")
        for filters, arguments, expected in [
            ({"version": "1.x"}, {}, {"1.0.0"}),
            ({"version": "*"}, {}, {"1.0.0", "2.0.0"}),
            ({"version": "1.0.0"}, {"version": "1.0.0"}, {"1.0.0"}),
        ]:
            hits = search(connection, "text", library="tool", filters=filters, **arguments)
            assert {hit["version"] for hit in hits} == expected
        with refused(connection, "PGR06", 'no filter field "version"'):
            search(connection, "text", library="tool", filters={"not": {"version": "1.0.0"}})

    def test_unversioned_is_asked_for_by_the_empty_label(self, connection):
        make(connection, "", "1.0.0")
        assert resolve(connection, "")["version"] == ""
        hits = search(connection, "text", library="tool", version="")
        assert {hit["version"] for hit in hits} == {""}

    def test_lists_of_libraries_and_versions(self, connection):
        make(connection, *RELEASES)
        make(connection, "", library="other")
        listed = run(connection, "library_versions", library="tool")
        assert [row["version"] for row in listed] == [
            "31.0.0-rc.1", "v30.2.1", "30.1.0-beta.10", "30.1.0-beta.2", "30.0.0", "29.7.0", "next",
        ]  # fmt: skip
        assert [row["version"] for row in listed if row["is_newest"]] == ["v30.2.1"]
        [other, tool] = run(connection, "libraries")
        assert (other["library"], other["newest"], other["versions"]) == ("other", "", 1)
        assert (tool["newest"], tool["pages"], tool["documents"]) == ("v30.2.1", 7, 7)
        assert tool["model"] == "static-en-de-ru-256"
        [only] = run(connection, "pages", library="tool", version="30.x")
        assert only["key"] == "a.md"


# Semantic versioning 2.0.0, § 11, and node-semver's ranges, by their definitions.

VERSION = re.compile(r"^v?(\d+)\.(\d+)\.(\d+)(?:-([0-9a-z.-]+))?(?:\+.*)?$")


def parse(label: str) -> tuple[tuple[int, int, int], list[str]]:
    match = VERSION.match(label)
    assert match
    return (int(match[1]), int(match[2]), int(match[3])), match[4].split(".") if match[4] else []


def compare(one: str, other: str) -> int:
    (core, names), (other_core, other_names) = parse(one), parse(other)
    if core != other_core:
        return 1 if core > other_core else -1
    if not names or not other_names:
        return bool(other_names) - bool(names)
    for a, b in zip_longest(names, other_names):
        if a != b:
            if a is None or b is None:
                return -1 if a is None else 1
            if a.isdigit() and b.isdigit():
                return 1 if int(a) > int(b) else -1
            if a.isdigit() or b.isdigit():
                return -1 if a.isdigit() else 1
            return 1 if a > b else -1
    return 0


numbers = st.sampled_from(["0", "1", "2", "9", "10", "11", "100"])
names = st.sampled_from(["alpha", "beta", "rc", "0", "1", "2", "10", "alpha1", "a-b"])
labels = st.builds(
    lambda v, core, pre: v + ".".join(core) + ("-" + ".".join(pre) if pre else ""),
    st.sampled_from(["", "", "v"]),
    st.tuples(numbers, numbers, numbers),
    st.lists(names, max_size=3),
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(labels, min_size=2, max_size=8))
def test_release_keys_sort_by_precedence(connection, found):
    rows = connection.execute(
        'select l from unnest(%s::text[]) as l order by _pgrag.release_key(l) collate "C"', [found]
    ).fetchall()
    ordered = [row["l"] for row in rows]
    assert all(compare(one, other) <= 0 for one, other in pairwise(ordered))
    assert [parse(label) for label in ordered] == [
        parse(label) for label in sorted(found, key=cmp_to_key(compare))
    ]


def in_range(label: str, operator: str, given_: list[int]) -> bool:
    """Whether a release is in the range of one comparator, by node-semver's definitions."""
    core, _ = parse(label)
    low = (*given_, 0, 0, 0)[:3]
    if operator == "^":
        fixed = next((place for place, n in enumerate(given_) if n), len(given_) - 1)
    else:
        fixed = min(len(given_), 2) - 1 if operator == "~" else len(given_) - 1
    high = (*given_[:fixed], given_[fixed] + 1, 0, 0, 0)[:3]
    return {
        "": low <= core < high, "=": low <= core < high, "^": low <= core < high,
        "~": low <= core < high, ">=": core >= low, "<": core < low,
        ">": core >= high, "<=": core < high,
    }[operator]  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    core=st.tuples(numbers, numbers, numbers).map(".".join),
    operator=st.sampled_from(["", "=", "^", "~", ">=", "<", ">", "<="]),
    bound=st.lists(numbers.map(int), min_size=1, max_size=3),
)
def test_releases_are_in_the_ranges_of_their_definition(connection, core, operator, bound):
    if operator == "^" and not any(bound) and len(bound) < 3:
        return
    found = value(
        connection, "select _pgrag.in_range(_pgrag.release_key(%s), %s)",
        core, operator + ".".join(map(str, bound)),
    )  # fmt: skip
    assert found == in_range(core, operator, bound)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("", "unversioned"), ("1.2.3", "semver"), ("v1.2.3-beta.1", "semver"),
        ("1.2.3+build.5", "semver"), ("3", "partial"), ("v3.1", "partial"), ("3.x", "partial"),
        ("3.1.x", "partial"), ("stable", "tag"), ("1.20-beta", "tag"), ("1.2.3.4", "semver"),
        ("2024-01-01", "semver"), ("release-1.2", "partial"), ("release", "tag"),
        ("1.", "tag"), ("v", "tag"), ("1234567890.0.0", "tag"),
    ],
)  # fmt: skip
def test_class(connection, label, expected):
    assert value(connection, "select _pgrag.version_class(%s)", label) == expected
    has_key = value(connection, "select _pgrag.release_key(%s) is not null", label)
    assert has_key is (expected in ("semver", "partial"))
