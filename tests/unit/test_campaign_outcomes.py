"""The table of a campaign in a page."""

import pytest
from campaign.outcome import Outcome, write_rows

PAGE = """# Promises

<!-- figures: made by `make campaign PAGE=…` -->
<!-- end of the figures -->

The end.
"""
TABLE = """
| part | done | faults | run by |
|---|---|---:|---|
| pages | 9 documents | 1 | `pages alone` |
| kills | 5 kills | 0 | `all` |

<!-- end"""


def test_a_part_run_again_replaces_its_own_row_on_a_page_with_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, "utf-8")
    write_rows(page, [Outcome("pages", {"documents": 2000}), Outcome("kills", {"kills": 5})], "all")
    write_rows(page, [Outcome("pages", {"documents": 9}, ["a fault"])], "pages alone")
    assert page.read_text("utf-8") == PAGE.replace("<!-- end", TABLE)
    page.write_text("# Promises\n", "utf-8")
    with pytest.raises(ValueError, match=r"page\.md lacks <!-- figures"):
        write_rows(page, [Outcome("pages", {})], "all")
    assert page.read_text("utf-8") == "# Promises\n"
