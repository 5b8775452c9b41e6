"""One wrong detail among the words of the source: numbers, units, names, negation, "always"."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrag.answer.details import contradiction

PASSAGE = """\
The crane lifts 4 tonnes and the gantry 12 tonnes. Boats are never lifted in winds above 30 knots.
Visitors pay with --cash-only or `HARBOUR_TOKEN`. The gate closes after 45 seconds. Only members may
moor at the east pier. Since 2019 the fees are paid online; until 2018 they were paid at the office.
Ein Boot darf nicht ohne Leinen liegen. Платить нужно до 5 числа. Three moorings are free.
"""


@pytest.mark.parametrize(("sentence", "doubt"), [
    ("The crane lifts 4 tonnes.", None),
    ("The gantry lifts 12 tonnes.", None),
    ("The crane lifts 12 tonnes.", "other numbers than its sources"),
    ("The crane lifts 9 tonnes.", "other numbers than its sources"),
    ("The gate closes after 45 minutes.", "other numbers than its sources"),
    ("The gate closes after 45 s.", None),
    ("The fees are paid online until 2018.", "other numbers than its sources"),
    ("The fees are paid online since 2019.", None),
    ("There are 3 free moorings.", None),
    ("Two piers are mentioned.", None),
    ("Boats are lifted in winds above 30 knots.", "the opposite of its sources"),
    ("Boats are not lifted in winds above 30 knots.", None),
    ("The gate does not close after 45 seconds.", "the opposite of its sources"),
    ("The gate closes after no more than 45 seconds.", None),
    ("Pay with --cash-only.", None),
    ("Pay with --card.", "names that its sources lack"),
    ("Set `HARBOUR_TOKEN`.", None),
    ("Set `HARBOUR_KEY`.", "names that its sources lack"),
    ("All members may moor at the east pier.", "more than its sources say"),
    ("Only members may always moor at the east pier.", None),
    ("Every 45 seconds the gate closes.", None),
    ("Ein Boot darf ohne Leinen liegen.", "the opposite of its sources"),
    ("Платить нужно до 10 числа.", "other numbers than its sources"),
    ("Boats, e.g. yachts, are not lifted in winds above 30 knots.", None),
    ("All members may moor at the west pier.", "more than its sources say"),
    ("Alle zahlen 12,5 Euro.", "other numbers than its sources"),
    ("Something else is said about whales.", None),
    ("", None),
])  # fmt: skip
def test_details(sentence, doubt):
    assert contradiction(sentence, [PASSAGE]) == doubt


def test_any_of_the_cited_passages_may_have_the_detail_in_any_form():
    tall = "The mast is 31 metres high."
    assert contradiction(tall, ["A mast.", "It is 31 metres high."]) is None
    assert contradiction(tall, ["A mast.", "It is high."]) is not None
    assert contradiction("The mast is high.", []) is None
    for sentence, passage in [
        ("Die Gebühr beträgt 1.250,5 Euro.", "The fee is 1,250.5 euros."),
        ("All boats pay.", "All boats pay, mostly in summer."),
        ("Nodes, i.e. machines, run pods.", "Nodes run pods."),
        (
            "Die Grenze für Boote liegt bei 0,5 Litern.",
            "Die Grenze für Boote liegt bei 0,5 Litern.",
        ),
        ("The gate closes after 1,000 boats.", "After 1,000 boats the gate closes."),
        ("b1c-1,1", "b1c-1,1"),
    ]:
        assert contradiction(sentence, [passage]) is None


@given(st.text(max_size=200), st.lists(st.text(max_size=300), max_size=3))
def test_any_text_is_read(sentence, passages):
    contradiction(sentence, passages)


@given(st.text(alphabet="abc 12.,-_`'n", min_size=1, max_size=80))
def test_a_text_does_not_contradict_itself(text):
    assert contradiction(text, [text]) is None
