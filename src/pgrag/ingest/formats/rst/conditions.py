"""The condition of `.. only::`."""


class Condition:
    """An expression of tags with `and`, `or`, `not`; the tags of the builder of HTML are true."""

    def __init__(self, words: list[str]) -> None:
        self._words = words[::-1]

    def value(self) -> bool:
        """Return the value up to the next closing parenthesis."""
        value = self._all()
        while self._words and self._words[-1] == "or":
            self._words.pop()
            value = self._all() or value
        return value

    def _all(self) -> bool:
        value = self._one()
        while self._words and self._words[-1] == "and":
            self._words.pop()
            value = self._one() and value
        return value

    def _one(self) -> bool:
        negated = False
        while self._words and self._words[-1] == "not":
            self._words.pop()
            negated = not negated
        word = self._words.pop() if self._words else "html"
        value = word in ("html", "builder_html", "format_html")
        if word == "(":
            value = self.value()
            self._words = self._words[:-1]
        return value != negated
