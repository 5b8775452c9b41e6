"""The search box that plugins of site generators put into pages."""

import pytest

from pgrag.generators.site import Box
from pgrag.ground.errors import InvalidInput


def box(service="https://search.example/", key="", **chosen):
    return Box.of(service, "kestrel", "2.1", key, chosen)


def test_it_is_an_element_or_the_address_of_a_script():
    made = box(key="pgrag_pk_a", ask=True, theme=False, placeholder='"Find" & go', hotkey="j")
    assert made.element == (
        '<pgrag-search library="kestrel" key="pgrag_pk_a" version="2.1" ask=""'
        ' placeholder="&quot;Find&quot; &amp; go" hotkey="j"></pgrag-search>'
    )
    placed = box(**{"in": ".nav > b"})
    assert placed.element == '<pgrag-search library="kestrel" version="2.1"></pgrag-search>'
    line = "https://search.example/widget.js?library=kestrel&version=2.1&in=.nav+%3E+b"
    assert placed.line == line


@pytest.mark.parametrize(("given", "said"), [
    ({"key": "pgrag_sk_a"}, "publishable keys begin with pgrag_pk_"),
    ({"service": "search.example"}, "service is 'search.example', and no address"),
    ({"hotkye": "j"}, "Did you mean 'hotkey'"),
    ({"onclick": "alert(1)"}, "It has ask, base, hotkey, in, lang, placeholder, theme"),
])  # fmt: skip
def test_what_cannot_be_is_refused_with_the_way_out(given, said):
    with pytest.raises(InvalidInput) as refused:
        box(**given)
    assert said in f"{refused.value.message} {refused.value.hint}"
