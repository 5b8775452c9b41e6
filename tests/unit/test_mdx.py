"""MDX becomes Markdown: its text stays, in the same lines, and code as it is."""

import pytest

from pgrag.ingest.formats import formats
from pgrag.ingest.text.mdx import is_mdx, reduce


@pytest.mark.parametrize(("source", "shown"), [
    ("import A from './a'\nimport {\n  B,\n  C as D\n} from \"b\"\n\nText", "\n\n\n\n\n\nText"),
    ("export const f = () => {\n\n  return '}'\n}\nexport default f\n\n# A", "\n\n\n\n\n\n# A"),
    ("export const A = ({children}) => (\n  <b>don't (\n\n# A", "\n\n\n# A"),
    ("import the module first\n", "import the module first\n"),
    ("exports are fine", "exports are fine"),
    (
        "export const v = '1.2'\n\nVersion {v}, {title}, {props.title}, {other}.",
        "\n\nVersion 1.2, T, T, .",
    ),
    ("a {/* b {c} */} {'d'} {`e`} {1.5} f", "a  d e 1.5 f"),
    ("{cond ? <b>yes</b> : <Note title=\"no\">more</Note>}", "yes : **no** more"),
    (
        "`{a}` and \\{b} and $x_{i}$ and ``<A b={c}>``",
        "`{a}` and \\{b} and $x_{i}$ and ``<A b={c}>``",
    ),
    ("1 < 2, a <b and {never closed", "1 < 2, a <b and {never closed"),
    ('<TabItem value="npm" label="npm">Text</TabItem>', "**npm** Text"),
    ("<Tabs>\n<TabItem value='yarn'>\nText\n</TabItem>\n</Tabs>", "\n**yarn**\nText\n\n"),
    ('<Card title="A & B" href="/a">x</Card>', "[A & B](/a) x"),
    ('<Card\n  title="A"\n  on={() => { x("}") }}\n/>', "**A**\n\n\n"),
    ("<Menu.Item {...props} title={'A'} /><Icon name=\"x\" title=\"y\"/>", "**A**"),
    ('<ParamField path="id" type="string">The id.</ParamField>', "`id`: `string` The id."),
    ('<Frame><img src="a.png" className="w" alt="A" /></Frame>', '<img src="a.png" alt="A">'),
    ('<h2 id="a" className="b">A</h2><br/><sup>1</sup>', '<h2 id="a">A</h2><br><sup>1</sup>'),
    ('<div id="a" style={{b: "}"}}>Text</div>', '<a id="a"></a>Text'),
    ("<><p>One</p><p>Two</p></>", "One Two"),
    ("<style>{`a { b: c }`}</style>x", "x"),
    (
        "## A {/*a*/}\n## B {#b}\n:::note{title=\"C\"}",
        "## A {/*a*/}\n## B {#b}\n:::note{title=\"C\"}",
    ),
    (
        "<A>\n  <B>\n    Text\n    ```js\n      <C d={e}>\n    ```\n  </B>\n</A>",
        "\n\nText\n```js\n  <C d={e}>\n```\n\n",
    ),
    (
        "1. One\n   <A>\n     Two\n   </A>\n\n   - b\n     - c",
        "1. One\n   \n   Two\n   \n\n   - b\n     - c",
    ),
])  # fmt: skip
def test_reduce(source, shown):
    reduced = reduce(source, {"title": "T"})
    assert "\n".join(map(str.rstrip, reduced.split("\n"))) == "\n".join(
        map(str.rstrip, shown.split("\n"))
    )
    assert reduced.count("\n") == source.count("\n")


def test_a_page_is_mdx_by_its_name_or_by_what_it_writes_outside_code():
    assert is_mdx("a.MDX", "Text")
    for text, expected in [
        ("import Tabs from '@theme/Tabs';\n\nText", True),
        ("<Intro>\n\nText {/* c */}\n\n</Intro>", True),
        ("<Intro>\n\nText\n\n</Intro>", False),
        ("```js\nimport a from 'b'\n```\n", False),
        ("    import a from 'b'\n", False),
        ("Then import it from 'b'.", False),
        ("`<A b={c}>` is {/* code */}", False),
    ]:
        assert is_mdx("a.md", text) is expected


def test_the_words_of_mdx_are_counted_from_the_source_and_its_front_matter_stays():
    head = "---\ntitle: 'A'\n---\n"
    source = f"{head}import B from 'b'\n\n# {{title}}\n\n<B c={{d}}>\n\nShown *words*.\n\n</B>\n"
    converted = formats.convert("a.mdx", source.encode())
    assert converted.markdown == f"{head}\n\n# A\n\n\n\nShown *words*.\n\n\n"
    assert converted.words
    assert (converted.words.shown, converted.words.kept) == (2, 2)
    broken = formats.convert("a.mdx", b"One {two\n\nthree four}\n\nfive\n").words
    assert broken
    assert broken.kept < broken.shown
    assert formats.convert("a.md", b"Text").words is None
