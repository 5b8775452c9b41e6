"""Pictures of figures: where the axes put values, and that the SVG has every point."""

from xml.etree import ElementTree

import pytest
from benchmarks.drawing import Axis, Series, picture

SVG = "{http://www.w3.org/2000/svg}"


def test_a_logarithmic_axis_has_ticks_around_its_values():
    axis = Axis.by_size([1.7, 64])
    assert [value for value, _ in axis.ticks] == pytest.approx([1, 2, 5, 10, 20, 50, 100])
    assert (axis.share(1), axis.share(100)) == (0, 1)
    assert axis.share(10) == pytest.approx(0.5)
    assert [label for _, [label] in Axis.by_size([10_000, 900_000]).ticks][-1] == "1,000,000"
    assert [label for _, [label] in Axis.by_size([0.3, 0.4]).ticks] == ["0.2", "0.5"]


@pytest.mark.parametrize("value", [0.5, 1, 10, 500])
def test_an_axis_of_one_value_has_a_length(value):
    axis = Axis.by_size([value])
    assert axis.lowest <= value < axis.highest
    assert axis.share(value) >= 0


def test_every_point_is_drawn_at_its_place_and_names_are_escaped():
    axis = Axis(0, 2, [(0, ("0",)), (2, ("2",))])
    series = [Series("a < b", [(0, 0), (2, 2)]), Series("c", [(1, 1)])]
    drawn = ElementTree.fromstring(picture("Growth & more", axis, axis, series))
    circles = [(float(c.get("cx")), float(c.get("cy"))) for c in drawn.iter(f"{SVG}circle")]
    assert len(circles) == 3
    (left, bottom), (right, top), middle = circles
    assert left < right
    assert bottom > top
    assert middle == pytest.approx(((left + right) / 2, (bottom + top) / 2))
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert {"a < b", "c", "Growth & more"} <= set(texts)
    assert len([*drawn.iter(f"{SVG}polyline")]) == 2
    scattered = ElementTree.fromstring(picture("x", axis, axis, series, joined=False))
    assert not [*scattered.iter(f"{SVG}polyline")]
