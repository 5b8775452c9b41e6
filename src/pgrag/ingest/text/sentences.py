"""Split text into sentences by deterministic rules, in any language."""

import re

_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]*_`]*(?=\s)|[。！？]+[\"'”’」』）]*)\s*|\n[ \t]*\n\s*")
_ABBREVIATIONS = frozenset(
    """
    abb abs art bd bspw bsp bzw ca dgl dh dr etc evtl exkl geb ggf hrsg inkl jh kap lt max min mio
    mrd nr prof sog st std str tel tsd usw vgl zb zzgl
    al approx assn ave cf co corp dept ed eds e.g eg est fig figs gen i.e ie inc jr ltd mr mrs ms
    no nos op pp rev sec sect sen sr vol vs viz
    г гг др ед им кв мин млн млрд напр обл о-в пер пл пр проф р рис руб с св см ср ст стр
    т тел тыс ул ч экз
    """.split()  # noqa: SIM905
)
_LAST_WORD = re.compile(r"([\w.-]+)\.$")
_SPACE = re.compile(r"\s+")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as (start, end) offsets. They end at . ! ? … before white
    space, at 。 ！ ？ or an empty line, but not after an abbreviation.
    """
    spans: list[tuple[int, int]] = []
    start = len(text) - len(text.lstrip())
    for match in _END.finditer(text):
        if match.end() < len(text) and _ends_sentence(text, match):
            spans.append((start, match.start() + len(match[0].rstrip())))
            start = match.end()
    end = len(text.rstrip())
    if start < end:
        spans.append((start, end))
    return spans


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    mark = match[0].strip()
    if not mark or mark[0] in "。！？":
        return True
    if text[match.end()].islower():
        return False
    if not mark.startswith("."):
        return True
    last = _LAST_WORD.search(text, max(0, match.start() - 30), match.start() + 1)
    if last is None:
        return True
    word = last[1].lower()
    if word.isdigit():
        return len(word) > 2
    return not (word in _ABBREVIATIONS or len(word.rpartition(".")[2]) == 1)


def shortened(text: str, limit: int, *, closing: str = "") -> str:
    """Return the complete sentences that fit into a limit, else the beginning of the first one."""
    end = 0
    for _, sentence_end in sentence_spans(text[: limit + 1]):
        if sentence_end <= limit and text[sentence_end - 1] in f".!?…。！？{closing}":
            end = sentence_end
    if end or not text:
        return text[:end]
    head = text[: limit - 1]
    return (head.rsplit(None, 1)[0] if " " in head else head).rstrip(",;:– -") + "…"


def split_words(text: str, limit: int) -> list[tuple[int, int]]:
    """Split a text without sentences into similar pieces, at white space if near."""
    spans: list[tuple[int, int]] = []
    start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
    while stop - start > limit:
        parts = -(-(stop - start) // limit)
        target = start - (-(stop - start) // parts)
        cut = target
        for match in _SPACE.finditer(text, max(start + 1, target - limit // 4), target + 1):
            cut = match.start()
        spans.append((start, start + len(text[start:cut].rstrip())))
        space = _SPACE.match(text, cut)
        start = space.end() if space else cut
    if start < stop:
        spans.append((start, stop))
    return spans
