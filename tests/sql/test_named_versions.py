"""A version that the words of a query name is the one that is searched; other numbers are words."""

import pytest
from library import ingest, page, refused, run, search, value

JEST = ["25.x", "26.x", "27.0", "next"]


def about_versions(notices):
    """Pages of a few words answer little: that is said, too."""
    return [notice for notice in notices if not notice.startswith("No good match")]


def make(connection, library, *labels, **pages):
    """A library with a page per version, and further pages by label."""
    for label in labels:
        own = pages.get(label.replace(".", "_"), [])
        ingest(connection, library, [page("a.md", f"Timeout of {label}."), *own], label)


def searched(connection, query, **arguments):
    """The versions of the hits, each with its library."""
    hits = search(connection, query, **arguments)
    return {f"{hit['library']} {hit['version']}" for hit in hits}


class TestNamed:
    @pytest.mark.parametrize(("query", "version"), [
        ("default of the timeout in Jest 26", "26.x"),
        ("Jest 26: what does timeout default to?", "26.x"),
        ("jest 26.x timeout", "26.x"),
        ("jest v26 timeout", "26.x"),
        ("timeout of jest@26", "26.x"),
        ("timeout in jest@next", "next"),
        ("timeout in version next", "next"),
        ("What's Jest 26's timeout?", "26.x"),
        ("the timeout (v26)", "26.x"),
        ("v26: timeout", "26.x"),
        ("is there a timeout in v26.4.1?", "26.x"),
        ("was there a timeout in 25?", "25.x"),
        ("timeout, version 26", "26.x"),
        ("timeout in version 26 of Jest", "26.x"),
        ("timeout with version 26.x", "26.x"),
        ("Wie lang ist das Timeout in Version 26?", "26.x"),
        ("das Timeout in der Version 26 von Jest", "26.x"),
        ("Какой timeout в версии 26?", "26.x"),
        ("what is new in Jest 26 since 25?", "26.x"),
        ("timeout in Jest 27.0.6", "27.0"),
    ])  # fmt: skip
    def test_is_what_is_searched(self, connection, query, version):
        make(connection, "jest", *JEST)
        assert searched(connection, query) == {f"jest {version}"}
        assert searched(connection, query, library="jest") == {f"jest {version}"}

    @pytest.mark.parametrize(
        "query",
        [
            "timeout ends in HTTP 404", "timeout on port 8080", "timeout with Node 25",
            "timeout with Node version 25", "timeout in the API v25", "timeout of TLS v25.0",
            "timeout in version 25 of the protocol", "timeout after 25 seconds",
            "timeout of 25 workers", "timeout in 25 steps", "set the timeout to 25",
            "jest 25 times slower until the timeout", "timeout since Jest 25",
            "upgrade from Jest 25 to Jest 26: timeout", "timeout in Jest 25 vs Jest 26",
            "timeout of Jest 25 vs 26", "timeout between 25 and 26", "Timeout seit Version 25",
            "timeout до версии 25", 'the timeout of "jest 25"', "the timeout of `jest 25`",
            "timeout of ts-jest 25", "timeout 25", "timeout in jest", "timeout in jest, 25 of them",
            "jest 404 timeout",
        ],
    )  # fmt: skip
    def test_is_not_every_number(self, connection, notices, query):
        make(connection, "jest", *JEST)
        assert searched(connection, query, query_embedding=None) <= {"jest 27.0"}
        assert [told for told in notices if "ersion" in told] == []

    def test_that_does_not_exist_is_told_with_those_that_do(self, connection, notices):
        make(connection, "jest", *JEST)
        assert searched(connection, "timeout in Jest 24") == {"jest 27.0"}
        assert about_versions(notices) == [
            "The query names version 24 of jest, which does not exist; version 27.0 is searched. It"
            " has: 27.0, 26.x, 25.x, next."
        ]

    @pytest.mark.parametrize(("query", "version", "rule"), [
        ("timeout in Jest 26.0.1", "26.6.3", "the nearest version above it, of the same major"),
        ("das Timeout in Jest 29", "27.0.6", "the newest version before it, of an older major; it"
         " has only pre-releases: write 29.0.0-rc.1 for the newest"),
    ])  # fmt: skip
    def test_follows_the_rule_of_versions_that_are_not_indexed(
        self, connection, notices, query, version, rule
    ):
        make(connection, "jest", "25.5.4", "26.6.3", "27.0.6", "29.0.0-rc.1")
        wish = query.split()[-1]
        [hit] = search(connection, query, library="jest")
        assert hit["version"] == version
        assert hit["version_reason"] == f"named in the query as {wish}; {rule}"
        [told] = [each for each in notices if "names version" in each]
        assert f"names version {wish} of jest" in told
        assert f"version {version} is searched, {rule}. " in told
        assert "It has: 29.0.0-rc.1, 27.0.6, 26.6.3, 25.5.4." in told

    def test_counts_in_every_search_unless_the_caller_asks_for_another(self, connection, notices):
        make(connection, "jest", *JEST)
        query = "timeout in Jest 26"
        for version in ("25.x", "27", "latest"):
            [read] = run(connection, "resolve_version", library="jest", wanted=version)
            expected = {f"jest {read['version']}"}
            assert searched(connection, query, library="jest", version=version) == expected
        assert searched(connection, f"{query} version:25.x", library="jest") == {"jest 25.x"}
        assert searched(connection, query, library="jest", filters={"version": "25.x"}) == {
            "jest 25.x"
        }
        assert len(searched(connection, query, library="jest", version="*")) == 4
        with refused(connection, "PGR03", "has no version that fits '24'", "27.0, 26.x, 25.x"):
            search(connection, query, library="jest", version="24")
        assert about_versions(notices) == []
        [hit] = search(connection, "timeout in Jest 26", library="jest")
        assert hit["version_reason"] == "named in the query as 26"
        assert about_versions(notices) == [
            "The query names version 26 of jest: version 26.x is searched, not 27.0."
        ]
        search(connection, "timeout in Jest 27", library="jest")
        assert len(about_versions(notices)) == 1
        query = "timeout in Jest 26"
        for function in ("context", "search_pages", "keyword_search"):
            rows = run(connection, function, query=query, library="jest")
            assert {row["version"] for row in rows} == {"26.x"}
        [material] = run(connection, "answer_context", question=query, library="jest")
        assert material["versions"] == [
            {"library": "jest", "version": "26.x", "reason": "named in the query as 26"}
        ]
        assert {source["version"] for source in material["sources"]} == {"26.x"}

    def test_of_one_library_leaves_the_others_alone(self, connection):
        make(connection, "jest", "25.x", "27.0")
        make(connection, "my-tool", "25.0.0", "27.0.0")
        assert searched(connection, "timeout in Jest 25") == {"jest 25.x", "my-tool 27.0.0"}
        assert searched(connection, "timeout in My Tool 25") == {"jest 27.0", "my-tool 25.0.0"}
        # Whose version 25 is not said.
        assert searched(connection, "timeout in version 25") == {"jest 27.0", "my-tool 27.0.0"}
        assert searched(connection, "timeout in Jest 25 and my-tool 25.0") == {
            "jest 25.x", "my-tool 25.0.0",
        }  # fmt: skip

    def test_is_the_newest_that_the_number_begins(self, connection):
        make(connection, "tool", "1.2.0", "1.10.0", "2.0.0", "3.0.0", "3.1.0-rc.1")
        for query, version in (
            ("timeout in tool 1", "1.10.0"),
            ("timeout in tool 1.2", "1.2.0"),
            ("timeout in tool 3", "3.0.0"),
            ("timeout in tool 3.1.0-rc.1", "3.1.0-rc.1"),
        ):
            assert searched(connection, query) == {f"tool {version}"}

    def test_is_a_number_where_documentation_has_no_versions(self, connection, notices):
        ingest(connection, "handbook", [page("a.md", "Timeout in version 2.")])
        assert searched(connection, "timeout in handbook 2") == {"handbook "}
        assert about_versions(notices) == []

    def test_ranks_no_more_as_a_word(self, connection):
        lure = [page("b.md", "x x x 25 x 25 x, 25.x: x.")]
        make(connection, "jest", "25.x", "27.0", **{"25_x": lure})
        best = search(connection, "timeout в версии 25.x", library="jest", mode="keyword")[0]
        assert best["content"] == "Timeout of 25.x."


OPTIONS = {
    "1_0": [page("o.md", {
        "content": "How many retries there are.", "heading": "retries [number]",
        "path": ["Options", "retries [number]"],
    })],
    "2_0": [page("o.md", {
        "content": "Retries have no end. `maxParallelJobs` counts jobs.", "heading": "Jobs",
        "path": ["Options", "Jobs"],
    })],
}  # fmt: skip


class TestLacking:
    @pytest.mark.parametrize(
        ("query", "version", "told"),
        [
            (
                "does it have maxParallelJobs?", "1.0",
                'No passage of tool 1.0 contains "maxParallelJobs"; versions that do: 2.0.',
            ),
            (
                "is retries still an option", "2.0",
                'No section of tool 2.0 is headed "retries"; versions that have one: 1.0.',
            ),
            ("is retries still an option", "1.0", None),
            ("does it have maxParallelJobs?", "2.0", None),
            ("does it have fooBar?", "1.0", None),
            ("does it have maxParallelJobs?", None, None),
        ],
    )  # fmt: skip
    def test_words_are_told_with_the_versions_that_have_them(
        self, connection, notices, query, version, told
    ):
        make(connection, "tool", "1.0", "2.0", **OPTIONS)
        hits = searched(connection, query, library="tool", version=version)
        assert hits <= {f"tool {version or '2.0'}"}
        assert about_versions(notices) == ([told] if told else [])

    def test_several_words_are_told_in_their_order(self, connection, notices):
        make(connection, "tool", "1.0", "2.0", "3.0", **OPTIONS)
        searched(connection, "retries or maxParallelJobs", library="tool", version="3.0")
        assert about_versions(notices) == [
            'No passage of tool 3.0 contains "retries"; versions that do: 2.0, 1.0.',
            'No passage of tool 3.0 contains "maxParallelJobs"; versions that do: 2.0.',
        ]

    def test_documentation_without_a_label_is_called_so(self, connection, notices):
        ingest(connection, "tool", [page("a.md", "A zanzibar.")])
        ingest(connection, "tool", [page("a.md", "Nothing of it.")], "2.0")
        searched(connection, "zanzibar", library="tool", version="2.0")
        assert about_versions(notices) == [
            'No passage of tool 2.0 contains "zanzibar"; versions that do: (unversioned).'
        ]

    def test_words_are_looked_for_all_at_once(self, connection):
        """In the version, then in all others, however many words there are."""
        make(connection, "tool", "2.0", "3.0", **OPTIONS)
        connection.execute("set local track_functions = 'all'")
        searched(connection, "how many jobs, retries have no end", library="tool", version="2.0")
        calls = value(
            connection,
            "select calls from pg_stat_xact_user_functions where funcname = 'occurring_lexemes'",
        )
        assert calls == 2

    def test_words_and_versions_are_told_to_the_language_model(self, connection):
        make(connection, "tool", "1.0", "2.0", **OPTIONS)
        [material] = run(
            connection, "answer_context", question="is maxParallelJobs in tool 1.0?", library="tool"
        )
        assert material["messages"][1]["content"].endswith(
            "About the versions of the documentation:\n"
            "- The query names version 1.0 of tool: version 1.0 is searched, not 2.0.\n"
            '- No passage of tool 1.0 contains "maxParallelJobs"; versions that do: 2.0.'
        )
        [material] = run(
            connection, "answer_context", question="timeout", library="tool", version="1.5"
        )
        assert material["messages"][1]["content"].endswith(
            "- tool 1.0: 1.5 is not indexed; the newest version before it."
        )
        [material] = run(connection, "answer_context", question="timeout", library="tool")
        assert "About the versions" not in material["messages"][1]["content"]

    def test_nothing_is_told_of_what_a_caller_may_not_see(self, connection, notices):
        make(connection, "tool", "1.0", "2.0", **OPTIONS)
        make(connection, "secret", "1.0", "2.0")
        connection.execute("create role version_reader in role pgrag_reader")
        run(connection, "grant_libraries", role_name="version_reader", libraries=["tool"])
        connection.execute("set session authorization version_reader")
        assert searched(connection, "maxParallelJobs in secret 7") == {"tool 2.0"}
        assert about_versions(notices) == []
        assert searched(connection, "maxParallelJobs in tool 1.0") <= {"tool 1.0"}
        assert len(about_versions(notices)) == 2
        connection.execute("reset session authorization")
