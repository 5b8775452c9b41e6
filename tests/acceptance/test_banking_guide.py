"""H7: fifteen sections over four heading levels become the tree that the document has."""

import re

import psycopg
import pytest
from command_line import CommandLine
from psycopg.rows import dict_row

ROOT = "Corporate Banking Guide"
#: Heading, its level, and its position in the page, in reading order.
TREE = [
    (ROOT, 1, "intro"),
    ("Account Opening", 2, "middle"),
    ("Required Documents", 3, "middle"),
    ("Companies Registered in Germany", 4, "middle"),
    ("Foreign Companies", 4, "middle"),
    ("Identity Checks", 3, "middle"),
    ("Payments", 2, "middle"),
    ("Domestic Transfers", 3, "middle"),
    ("International Transfers", 3, "middle"),
    ("SEPA Countries", 4, "middle"),
    ("Countries Outside SEPA", 4, "middle"),
    ("Recurring Payments", 3, "middle"),
    ("Lending", 2, "middle"),
    ("Credit Lines", 3, "middle"),
    ("Contacts and Escalation", 2, "conclusion"),
]


@pytest.fixture(scope="module")
def guide(clone, tmp_path_factory, fixtures_folder):
    with clone() as url:
        pgrag = CommandLine(tmp_path_factory.mktemp("banking"), {"PGRAG_DATABASE_URL": url})
        pgrag.run("index", "banking", fixtures_folder / "banking_guide.md")
        yield pgrag


@pytest.fixture(scope="module")
def database(guide):
    url = guide.variables["PGRAG_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True, row_factory=dict_row) as connection:
        yield connection


@pytest.fixture(scope="module")
def sections(guide):
    """The sections by heading, in reading order, without the page itself."""
    _, *rows = guide.json("outline", "banking", "banking_guide")
    return {row["heading"]: row for row in rows}


def expected_path(index):
    """The headings from the root down to this one: the parent is the last one of a lower level."""
    path, level = [], 9
    for name, depth, _ in reversed(TREE[: index + 1]):
        if depth < level:
            path.insert(0, name)
            level = depth
    return path


def test_fifteen_sections_over_four_levels_are_a_tree(sections, guide):
    assert len(TREE) == len(sections) == 15
    assert [(s["heading"], s["heading_level"], s["position"]) for s in sections.values()] == TREE
    assert [s["path"] for s in sections.values()] == [expected_path(n) for n in range(15)]
    assert [s["depth"] for s in sections.values()] == [level for _, level, _ in TREE]
    assert {s["root_section"] for s in sections.values()} == {ROOT}
    ids = {s["document_id"]: heading for heading, s in sections.items()}
    parents = [ids.get(s["parent_id"]) for s in sections.values()]
    assert parents == [None, *(expected_path(n)[-2] for n in range(1, 15))]
    lines = guide.run("outline", "banking@", "/banking_guide").out.splitlines()
    drawn = [re.fullmatch(r"([│├└─ ]*)(.+?)(  lines .*)?", line) for line in lines[1:-1]]
    assert [(line[2], len(line[1]) // 4) for line in drawn if line] == [row[:2] for row in TREE]
    assert lines[-1].startswith("banking_guide.md")


#: Headings and the only line below each.
BRIEF = {
    "# 1 Banking Guide": "For relationship managers.",
    "## 1.1 Account Opening": "Only the onboarding team opens accounts.",
    "### 1.1.1 Required Documents": "Articles of association.",
    "#### 1.1.1.1 German Companies": "An extract from the register.",
    "#### 1.1.1.2 Foreign Companies": "An apostilled extract.",
    "### 1.1.2 Identity Checks": "In person or by video.",
    "## 1.2 Payments": "Before four o'clock.",
    "### 1.2.1 Domestic Transfers": "One day.",
    "### 1.2.2 International Transfers": "Two days.",
    "#### 1.2.2.1 SEPA Countries": "By IBAN alone.",
    "#### 1.2.2.2 Outside SEPA": "With a BIC.",
    "### 1.2.3 Recurring Payments": "On the first of a month.",
    "## 1.3 Lending": "Two signatures.",
    "### 1.3.1 Credit Lines": "For one year.",
    "## 1.4 Contacts": "The duty desk.",
}


def test_the_sections_below_the_title_are_roots_too(guide):
    """As where the same guide is a PDF without a title above its chapters."""
    search = ("search", "account", "-l", "banking", "-n", "50")
    found = guide.hits(
        *search, "--filter", "root_section=Account Opening", "--filter", "depth_min=2",
        "--filter", "depth_max=4",
    )  # fmt: skip
    assert {hit["heading"] for hit in found} == {heading for heading, _, _ in TREE[1:6]}
    assert {hit["path"][1] for hit in found} == {"Account Opening"}
    assert guide.hits(*search, "--filter", "root_section=Required Documents") == []
    assert len(guide.hits(*search, "--filter", f"root_section={ROOT}")) > len(found)


def test_sections_of_one_line_are_found_by_their_own_names(guide, tmp_path, database):
    brief = "\n\n".join(part for section in BRIEF.items() for part in section)
    (tmp_path / "brief.md").write_text(brief)
    guide.run("index", "brief", tmp_path)
    headings = [heading.lstrip("# ") for heading in BRIEF]
    for heading in headings:
        hits = database.execute(
            "select s.heading, s.path from pgrag.search(%s, 'brief', levels => '{2}') as s",
            [f'heading:"{heading}"'],
        ).fetchall()
        assert [(hit["heading"], hit["path"][-1]) for hit in hits] == [(heading, heading)]
    search = ("search", "companies", "-l", "brief", "-n", "20", "--filter")
    below = guide.hits(*search, "section_path=1.1 Account Opening")
    assert {hit["heading"] for hit in below} == set(headings[1:6])
    assert len(guide.hits(*search, "depth_min=4")) == 4
    assert len(guide.hits(*search, "root_section=1 Banking Guide")) == 15
    [hit] = guide.hits(*search, "heading=1.1.1 Required Documents")
    assert hit["content"] == "Articles of association."
    assert hit["anchor"] == "111-required-documents"
    outline = guide.json("outline", "brief", "brief")
    names = {row["document_id"]: row["heading"] for row in outline}
    assert hit["chunk_key"] == f"brief.md#c{hit['sort_order']}"
    assert hit["has_children"]
    around = (hit["previous_section"], hit["next_section"])
    expected = ["1.1 Account Opening", "1.1.1.1 German Companies"]
    assert [names[section] for section in around] == expected
    assert [names[section] for section in hit["sibling_sections"]] == ["1.1.2 Identity Checks"]
    assert guide.json("read", "brief", hit["chunk_key"])["content"] == "Articles of association."
    [payments] = guide.hits(*search, "heading=1.2 Payments", "--levels", "2")
    assert names[payments["previous_section"]] == "1.1.2 Identity Checks"
    [last] = guide.hits(*search, "heading=1.4 Contacts", "--levels", "2")
    assert (last["has_children"], last["next_section"]) == (False, None)
    positions = {row["heading"]: row["position"] for row in outline}
    assert positions["1.1.1 Required Documents"] == "middle"
