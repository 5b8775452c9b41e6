"""From the words of a heading to its anchor, as GitHub makes it."""

import re

_NO_SLUG = re.compile(r"[^\w\- ]")


class Anchors:
    """Generates the anchors of one page as GitHub does; the first duplicate ends in -1."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def make(self, heading: str, explicit: str | None) -> str:
        """Return the anchor of the next heading of the page."""
        if explicit:
            self._used.setdefault(explicit, 0)
            return explicit
        slug = _NO_SLUG.sub("", heading.lower()).strip().replace(" ", "-")
        anchor = slug
        while anchor in self._used:
            self._used[slug] += 1
            anchor = f"{slug}-{self._used[slug]}"
        self._used[anchor] = 0
        return anchor
