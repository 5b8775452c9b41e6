"""Macros of site generators, reduced to the words on the rendered page."""

import time

import pytest

from pgrag.ingest.text.markdown import parse
from pgrag.ingest.text.templating import has_macros, prepare, reduce


@pytest.mark.parametrize(("source", "shown"), [
    # KumaScript
    ('{{domxref("Document.cookie")}}', "Document.cookie"),
    ("{{DOMxRef('Window.open()', 'open()')}}", "open()"),
    ('{{domxref("A.b", "", "", 1)}}', "A.b"),
    ('{{ htmlelement("video") }}', "`<video>`"),
    ('{{cssxref("color")}} or {{cssxref("width")}}', "color or width"),
    ('{{Glossary("DOM", "the DOM")}}', "the DOM"),
    ('{{htmlattrxref("type","input")}}', "type"),
    ('{{HTTPStatus(404, "404 Not Found")}}', "404 Not Found"),
    ('{{RFC(6265)}} and {{bug("1")}}', "RFC 6265 and bug 1"),
    ("x {{deprecated_inline}}{{Non-standard_Inline}}", "x (deprecated)(non-standard)"),
    ('{{APIRef("DOM")}}{{LearnSidebar}}{{Compat}}{{Specifications}}', ""),
    ('{{EmbedLiveSample("Demo", "100%", 200)}}{{PreviousNext("A", "B")}}', ""),
    ('{{jsxref("Array.prototype.slice()",\n"slice()")}} x', "slice()\n x"),
    ("{{ book.title }} and {{outlet}}", "{{ book.title }} and {{outlet}}"),
    ('`{{domxref("x")}}` and ``{{Compat}} ` ``', '`{{domxref("x")}}` and ``{{Compat}} ` ``'),
    # Hugo
    ("{{< note >}}\nText\n{{< /note >}}", "**Note**\nText\n"),
    ('{{% alert title="Poll closed" %}}x{{% /alert %}}', "**Poll closed**x"),
    ('{{< glossary_tooltip text="pods" term_id="pod" >}}', "pods"),
    ('{{< glossary_tooltip term_id="api-server" >}}', "api server"),
    ('{{< param "version" >}}', "version"),
    ('{{% heading "whatsnext" %}} {{% heading "objectives" %}}', "What's next Objectives"),
    ('[a]({{< ref "docs/a.md" >}})', "[a](docs/a.md)"),
    ('{{<figure\n  src="x.png" alt="A > B">}}', "A > B\n"),
    ('{{% code_sample file="pods/a.yaml" %}}', "pods/a.yaml"),
    ('{{< feature-state for_k8s_version="v1.26" state="stable" >}}', "v1.26 stable"),
    ('{{< tabs name="t" >}}{{% tab name="Linux" %}}', "**Linux**"),
    ("{{</* note */>}}", "{{< note >}}"),
    # comments, MDX, admonitions
    ("a <!-- b\nc --> d", "a \n d"),
    ("a {/* b */} c", "a  c"),
    ("<!-- never closed", "<!-- never closed"),
    ('<Tabs groupId="a">\n<TabItem value="x" label="With npm">', "\nWith npm"),
    ("<TOCInline toc={toc[toc.length - 1].children}/>", ""),
    ("Promise<String> and <BR> and <a>", "Promise<String> and <BR> and <a>"),
    ("import A from '@x/A';\nimport {\n  B,\n} from \"b\";\n\nText", "\n\n\n\n\nText"),
    ("Use\nimport a from 'b'\nhere", "Use\nimport a from 'b'\nhere"),
    ("export const a = {b: 1};\n", "\n"),
    ("/// tip\n\nText\n\n///", "**Tip**\n\nText\n\n"),
    ("/// note | Technical **Details**", "**Technical Details**"),
    ("//// tab | Python 3.10+", "**Python 3.10+**"),
    (":::caution Mind this\n:::", "**Mind this**\n"),
    (":::tip[Title]", "**Title**"),
    ("::: package.module", "::: package.module"),
    ("{* ../../docs/a.py hl[9] *}", "docs/a.py"),
    ("{% raw %}x{% endraw %}", "x"),
    # Liquid, GitBook, mdBook
    ('{% hint style="info" %}\nx\n{% endhint %}', "**Info**\nx\n"),
    ('{% tabs %}{% tab title="npm" %}x{% endtab %}{% endtabs %}', "**npm**x"),
    ("{% include note.html a='b' %}{% if site.x %}y{% endif %}", "y"),
    ("{% widget %} in a text about {% load %}", "{% widget %} in a text about {% load %}"),
    ("{{#include a.rs:2:3}}{{#playground b.rs editable}}", ""),
    # MkDocs
    ('!!! pied-piper "A hat"\n??? attention inline end', "**A hat**\n**Attention**"),
])  # fmt: skip
def test_reduce(source, shown):
    assert has_macros(source) or source == shown
    assert reduce(source) == shown
    assert source.count("\n") == shown.count("\n")


def test_shortcodes_around_code_become_fences_and_comments_vanish():
    text = (
        '{{< highlight yaml "linenos=false" >}}\n# comment\na: 1\n{{< /highlight >}}\n'
        '   {{< tab name="x" codelang="bash" >}}\n   ls\n   {{< /tab >}}\n'
        '{{% tab name="Text" %}}\nwords\n{{% /tab %}}\n'
        "{{<mermaid>}}\ngraph\n{{</mermaid>}}\n{{< highlight go >}}\nnever closed\n"
    )
    assert prepare(text) == (
        "```yaml\n# comment\na: 1\n```\n   ```bash\n   ls\n   ```\n"
        '{{% tab name="Text" %}}\nwords\n{{% /tab %}}\n'
        "```mermaid\ngraph\n```\n{{< highlight go >}}\nnever closed\n"
    )
    text = "a {{< comment >}}\n# no heading\n{{< /comment >}} b\n"
    assert prepare(text) == "a \n\n b\n"


def test_code_keeps_macros_and_lines_and_admonitions_are_text():
    code = '```html\n{{domxref("x")}} <!-- kept -->\n<Tabs>\n```'
    text = f'{{{{APIRef}}}}\n\n{code}\n\n- {{{{cssxref("a")}}}}\n\n  ```\n  {{{{< x >}}}}\n  ```\n'
    blocks = parse(text)[0].blocks
    assert [block.text for block in blocks] == [code, "- a\n\n  ```\n  {{< x >}}\n  ```"]
    assert [block.line_start for block in blocks] == [3, 8]
    sections = parse("```\na\n```\n```\nb\n```\n{{APIRef}}\n# Heading\n")
    expected = [(1, ""), (8, "Heading")]
    assert [(section.line_start, section.heading) for section in sections] == expected
    text = '!!! note "Mind this"\n    First.\n\n        code()\n\nAfter.\n'
    kinds = [(block.type, block.text) for block in parse(text)[0].blocks]
    expected = [("callout", "**Mind this**\nFirst."), ("code", "    code()"), ("text", "After.")]
    assert kinds == expected
    for text in [
        "Plain text with `code` and [a link](x).",
        "A {brace} and a < b > c",
        "# Heading\n",
    ]:
        assert not has_macros(text)
        assert reduce(text) == text


@pytest.mark.parametrize(
    "macro", ["{{< note ", "{{domxref(", "<!-- ", "` `` ", '<Tabs a="', "[[a ", "{/* "]
)
def test_an_unclosed_macro_repeated_for_ever_takes_linear_time(macro):
    begin = time.process_time()
    assert reduce(macro * 200_000) == macro * 200_000
    assert time.process_time() - begin < 30
