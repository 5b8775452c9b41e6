"""Definition lists: their terms with their definitions, and the signatures of an API."""

from collections.abc import Iterator

from pgrag.ingest.formats.html.dom import Node, class_of, elements, has_class, tag_of

#: A longer signature is too long for a heading.
LONGEST_HEADING = 120


def groups(node: Node) -> list[tuple[list[Node], list[Node]]]:
    """Return the terms of a list, those that share a definition together, and their definitions."""
    pairs: list[tuple[list[Node], list[Node]]] = []
    for child in _parts(node):
        is_term = tag_of(child) == "dt"
        if not pairs or (is_term and pairs[-1][1]):
            pairs.append(([], []))
        pairs[-1][0 if is_term else 1].append(child)
    return pairs


def _parts(node: Node) -> Iterator[Node]:
    for child in elements(node):
        if tag_of(child) == "div":  # which may group a term with its definitions
            yield from (each for each in elements(child) if tag_of(each) in ("dt", "dd"))
        else:
            yield child


def is_published(node: Node) -> bool:
    """Whether the terms of a list are published with ids, and so are sections of their page."""
    if has_class(node, "footnote", "citation"):
        return False
    return any(
        term.attributes.get("id") or term.css_first("a.headerlink, a.id_link, a.permalink")
        for term in _parts(node)
        if term.tag == "dt"
    )


def is_signature(term: Node) -> bool:
    """Whether a term is the signature of a function, a class or an option, as Sphinx writes it."""
    return "sig-object" in class_of(term.attributes) or term.css_first(".descname") is not None


def shortened(signature: str) -> str:
    """Return a signature without its arguments if it is too long for a heading."""
    if len(signature) <= LONGEST_HEADING:
        return signature
    name = signature.partition("(")[0]
    return f"{name}(…)" if len(name) < LONGEST_HEADING else name[:LONGEST_HEADING] + "…"
