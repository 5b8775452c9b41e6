"""The words and the style sheets of the page: all are used, in both languages alike."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

from pgrag.api.site import site

WEB = Path(str(files("pgrag"))) / "web"
SCRIPTS = {
    path: path.read_text("utf-8")
    for path in sorted(WEB.rglob("*.mjs"))
    if not {"vendor", "widget"} & set(path.relative_to(WEB).parts)
}
#: What has words, without the German half of those that have two files.
WORDS = [
    path
    for path in SCRIPTS
    if path.name.startswith("texts.")
    and ".de." not in path.name
    and "useTexts" not in SCRIPTS[path]
]
PAGE = [*SCRIPTS.values(), (WEB / "index.html").read_text("utf-8")]
WIDGET = sorted((WEB / "widget").glob("*.*js"))
SHEETS = [path for path in sorted(WEB.rglob("*.css")) if "vendor" not in path.parts]
WIDGET_SHEETS = [path for path in SHEETS if path.parent.name == "widget"]
#: Classes of vendored libraries.
OF_OTHERS = {"u-legend"}
#: What the service says that the page has words for, or draws.
SAID = "\n".join(
    path.read_text("utf-8")
    for folder in ("answer", "ground/values", "rendering")
    for path in sorted((WEB.parent / folder).rglob("*.py"))
)

TEMPLATE = re.compile(r"([\w-]*)\$\{[^{}]*\}([\w-]*)")


def name(path: Path) -> str:
    return path.relative_to(WEB).as_posix()


def texts_of(page, path: Path) -> dict[str, dict[str, object]]:
    address = f"page/{site().version}/{name(path)}"
    return page.evaluate(
        "async address => (await import(new URL(address, document.baseURI))).texts", address
    )


def is_used(word: str, scripts: list[str]) -> bool:
    """Whether a script or the service says it, or a template makes it, such as `tab_${name}`."""
    whole = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    if any(whole.search(text) for text in [*scripts, SAID]):
        return True
    kind, _, rest = word.partition("_")
    if rest and any("}_${" in text and f'"{kind}"' in text for text in scripts):
        return True
    made = [found for text in scripts for found in TEMPLATE.findall(text)]
    return any(
        word.startswith(begin) and word.endswith(end) and len(word) > len(begin + end)
        for begin, end in made
        if len(begin + end) > 1
    )


def placeholders(text: object) -> set[str]:
    return set(
        re.findall(r"\{(\w+)\}", " ".join(text.values()) if isinstance(text, dict) else text)
    )


@pytest.fixture(scope="module")
def words_of(service, browser):
    page = browser.new_page(base_url=service.url)
    page.goto("/")
    yield {path: texts_of(page, path) for path in WORDS}
    page.close()


def test_all_words_are_in_both_languages_with_the_same_values(words_of):
    assert len(words_of) >= 9
    for path, words in words_of.items():
        english, german = words["en"], words["de"]
        assert english.keys() == german.keys(), name(path)
        for key, text in english.items():
            assert placeholders(text) == placeholders(german[key]), f"{name(path)}: {key}"
            assert isinstance(text, dict) is isinstance(german[key], dict), f"{name(path)}: {key}"


def test_each_word_is_used(words_of):
    for path, words in words_of.items():
        importing = re.compile(rf'from "[./\w]*{re.escape(path.name)}"')
        readers = [
            text
            for other, text in SCRIPTS.items()
            if importing.search(text) and (other.parent == path.parent or path.parent.name in text)
        ]
        assert readers, name(path)
        unused = [key for key in words["en"] if not is_used(key, readers)]
        assert not unused, name(path)


@pytest.mark.parametrize("path", SHEETS, ids=name)
def test_each_class_and_each_variable_of_a_style_sheet_is_used(path):
    sheet = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    scripts = [each.read_text("utf-8") for each in WIDGET] if path in WIDGET_SHEETS else PAGE
    selectors = " ".join(re.findall(r"([^{};]+)\{", sheet))
    classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", selectors)) - OF_OTHERS
    assert not [each for each in sorted(classes) if not is_used(each, scripts)]
    variables = set(re.findall(r"--([\w-]+):", sheet))
    styles = "\n".join(each.read_text("utf-8") for each in SHEETS)
    unused = [each for each in sorted(variables) if f"var(--{each}" not in styles]
    assert not [each for each in unused if not is_used(each, scripts)]
