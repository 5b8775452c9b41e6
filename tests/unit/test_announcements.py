"""The labelled questions about announcements: each wants pages of the types that it says."""

import pytest
from benchmarks import announcements

from pgrag.ingest.matter.page_types import PageTypes
from pgrag.service.configuration import shipped

ASKED = announcements.read()


def test_questions_have_ids_of_their_own():
    assert len({each.id for each in ASKED}) == len({each.text for each in ASKED}) == len(ASKED)
    assert {each.wants for each in ASKED} == {"guide", "announcement"}
    assert all(set(each.relevant.values()) <= {1, 2} for each in ASKED)


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.id)
def test_announcements_are_pages_of_the_types_that_weigh_less(asked):
    types = PageTypes.of(shipped().value)
    for key in asked.relevant:
        weighs_less = types.reading(None, key).type in announcements.TYPES
        assert weighs_less == (asked.wants == "announcement")
