"""The labelled questions about announcements: each wants pages of the types that it says."""

from benchmarks import announcements

from pgrag.ingest.matter.page_types import PageTypes
from pgrag.service.configuration import shipped

ASKED = announcements.read()


def test_questions_have_ids_and_announcements_the_types_that_weigh_less():
    assert len({each.id for each in ASKED}) == len({each.text for each in ASKED}) == len(ASKED)
    assert {each.wants for each in ASKED} == {"guide", "announcement"}
    assert all(set(each.relevant.values()) <= {1, 2} for each in ASKED)
    for asked in ASKED:
        types = PageTypes.of(shipped().value)
        for key in asked.relevant:
            weighs_less = types.reading(None, key).type in announcements.TYPES
            assert weighs_less == (asked.wants == "announcement")
