"""The search box of other sites as it is sent: small, whole, and the same in both languages."""

import re
from importlib import resources

import pytest

from pgrag.api import widget
from pgrag.api.site import site

MOST_BYTES = 12_000
FOLDER = widget.FOLDER


def sent(name: str) -> str:
    return site().files[FOLDER + name].content.decode()


@pytest.mark.parametrize("language", ["en", "de"])
def test_what_a_reader_loads_is_small(language, capsys):
    """The element, the dialog and the words of one language; the page itself loads the element."""
    loaded = {"widget.js": site().widget} | {
        name: site().files[FOLDER + name] for name in ("box.mjs", f"texts.{language}.mjs")
    }
    sizes = {name: len(file.compressed) for name, file in loaded.items()}
    with capsys.disabled():
        print(f"\nsearch box ({language}), gzipped: {sizes}, {sum(sizes.values()):,} bytes in all")
    assert sum(sizes.values()) <= MOST_BYTES


def test_only_what_is_loaded_is_there():
    names = {name for name in site().files if name.startswith(FOLDER)}
    assert names == {FOLDER + name for name in (widget.DIALOG, *widget.TEXTS)}
    element = site().widget.content.decode()
    assert f'"page/{site().version}/widget/"' in element
    for script in (element, sent(widget.DIALOG)):
        assert not re.search(r"\{[\w.]*(files|css)\}", script)
        assert "import {" not in script


def test_each_name_is_declared_once():
    """The modules share one scope when they are joined."""
    modules = (resources.files("pgrag") / "web" / "widget").iterdir()
    texts = [each.read_text() for each in modules if re.fullmatch(r"[a-z]+\.mjs", each.name)]
    of_module = r"^(?:export )?(?:async )?(?:const|let|class|function\*?) (\w+)"
    declared = [name for text in texts for name in re.findall(of_module, text, re.MULTILINE)]
    assert len(declared) > 20
    assert sorted(set(declared)) == sorted(declared)


def test_texts_are_complete_in_both_languages():
    english, german = (
        re.findall(r"""^"?([\w-]+)"?:""", sent(name), re.MULTILINE)
        for name in reversed(widget.TEXTS)
    )
    assert len(english) > 30
    assert english == german


def test_what_is_left_out_means_nothing():
    files = {
        "box.mjs": 'import { a } from "./a.mjs";\n// A comment.\nexport function b() {\n'
        '  return `x = ${a}` + "y  =  // z" + (a  ? 1 : 2);\n}\n',
        "a.mjs": '/** It\n * spans lines. */\nexport const a = [ 1, 2 ];\nconst css = "{a.css}";\n',
        "a.css": '/* Look. */\na > b:hover { color : red;\n  content: "x" }\n',
        "texts.de.mjs": "", "texts.en.mjs": "",
    }  # fmt: skip
    assert widget.modules(files)["box.mjs"] == (
        'const a=[1,2];\nconst css="a > b:hover{color : red;content:\\"x\\"}";\n'
        'export function b(){\nreturn `x = ${a}` + "y  =  // z" +(a?1:2);\n}\n'
    )
