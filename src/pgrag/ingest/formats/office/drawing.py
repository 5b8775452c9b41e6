"""What drawings of documents and presentations show: charts and diagrams."""

from collections.abc import Iterator
from itertools import zip_longest
from xml.etree.ElementTree import Element

from pgrag.ingest.formats.escaping import escape
from pgrag.ingest.formats.office.numbers import shown_number
from pgrag.ingest.formats.office.package import Package, inside, named, whole
from pgrag.ingest.formats.office.text import Part, item, paragraph, table

_MOST_GAPS = 100
"""Points of a series without a value, beside four for each with one."""


def drawn(package: Package, owner: str, element: Element) -> Iterator[Part | None]:
    """Yield the charts and diagrams to which a drawing in a part leads."""
    relations = package.relations(owner)
    kinds = (("c:chart", "r:id", chart_parts), ("dgm:relIds", "r:dm", _diagram))
    for name, attribute, read in kinds:
        for each in element.iter(named(name)):
            relation = relations.get(each.get(named(attribute), ""))
            is_new = relation is not None and package.is_new(relation.part)
            root = package.optional(relation.part) if relation and is_new else None
            if root is not None:
                yield from read(root)


def chart_parts(root: Element) -> Iterator[Part | None]:
    """Yield the title of a chart, and its series as the columns of a table."""
    title = inside(root, "c:chart/c:title")
    written = _words(title)
    if written:
        yield paragraph(escape(written))
    plot = inside(root, "c:chart/c:plotArea")
    if plot is None:
        return
    series = list(plot.iter(named("c:ser")))
    first = _values(series[0], ("c:cat", "c:xVal")) if series else []
    columns = [[escape(_axis_title(plot)), *first]]
    for number, each in enumerate(series, start=1):
        own = _values(each, ("c:cat", "c:xVal"))
        if own and own != first:  # of a chart of points
            columns.append(["", *own])
        name = _words(inside(each, "c:tx")) or f"Series {number}"
        columns.append([escape(name), *_values(each, ("c:val", "c:yVal"))])
        if sizes := _values(each, ("c:bubbleSize",)):
            columns.append(["", *sizes])
    yield table([list(row) for row in zip_longest(*columns, fillvalue="")]) if series else None


def _axis_title(plot: Element) -> str:
    for kind in ("c:catAx", "c:dateAx"):
        axis = inside(plot, f"{kind}/c:title")
        if axis is not None:
            return _words(axis)
    return ""


def _words(element: Element | None) -> str:
    if element is None:
        return ""
    lines = (
        "".join(t.text or "" for t in p.iter(named("a:t"))) for p in element.iter(named("a:p"))
    )
    cached = (each.text or "" for each in element.iter(named("c:v")))
    return " ".join(" ".join((*lines, *cached)).split())


def _values(series: Element, paths: tuple[str, ...]) -> list[str]:
    """Return the stored values of a series, each in its place."""
    source = next((e for path in paths if (e := inside(series, path)) is not None), None)
    if source is None:
        return []
    levels = source.findall(".//" + named("c:lvl")) or [source]
    texts = [_points(level, source) for level in reversed(levels)]
    return [escape(" ".join(filter(None, each))) for each in zip_longest(*texts, fillvalue="")]


def _points(level: Element, source: Element) -> list[str]:
    form = source.findtext(".//" + named("c:formatCode")) or "General"
    points = {
        whole(point.get("idx")): shown_number(point.findtext(named("c:v")) or "", form)
        for point in level.iter(named("c:pt"))
    }
    most = _MOST_GAPS + 4 * len(points)
    last = max((at for at in points if 0 <= at < most), default=-1)
    return [points.get(at, "") for at in range(last + 1)]


def _diagram(root: Element) -> Iterator[Part | None]:
    """Yield the texts of a diagram as a list, as deep as they hang on each other."""
    points = {each.get("modelId", ""): each for each in root.iter(named("dgm:pt"))}
    below: dict[str, list[tuple[int, str]]] = {}
    for link in root.iter(named("dgm:cxn")):
        if link.get("type", "parOf") == "parOf":
            place = (whole(link.get("srcOrd")), link.get("destId", ""))
            below.setdefault(link.get("srcId", ""), []).append(place)
    roots = [key for key, each in points.items() if each.get("type") == "doc"]
    seen: set[str] = set()
    waiting = [(key, -1) for key in reversed(roots or list(points))]
    while waiting:
        key, depth = waiting.pop()
        if key in seen:
            continue
        seen.add(key)
        if key in points and (words := _words(inside(points[key], "dgm:t"))):
            yield item(escape(words), max(depth, 0))
        waiting += [(to, depth + 1) for _, to in sorted(below.get(key, ()), reverse=True)]
