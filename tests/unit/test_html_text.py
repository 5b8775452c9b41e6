"""HTML blocks, reduced to Markdown."""

from pgrag.ingest.text.html_text import readable
from pgrag.ingest.text.markdown import parse


def test_html_is_read_without_its_markup():
    [section] = parse(
        '   <table style="x">\n<tbody>\n<tr><td>--rootfs string</td></tr>\n</table>\n'
    )
    assert [(block.type, block.text) for block in section.blocks] == [("table", "--rootfs string")]
    for block, text in [
        ("<p>Plain &amp; <b>bold</b> <em>soft</em></p>", "Plain & **bold** _soft_"),
        (
            '<table class="x">\n<tr><td><code>text</code><br/>\n<a href="#T">T</a></td>\n'
            "<td>\n   <p>Two   words</p>\n</td></tr>\n</table>",
            "`text`\nT\nTwo words",
        ),
        ('<a class="b" href="https://x.org">a\n link</a>', "[a link](https://x.org)"),
        ("<ul>\n<li>one</li>\n<li>two</li>\n</ul>", "- one\n- two"),
        ('<img src="a.png" alt="A valve"> <img src="b.png">', "![A valve](a.png)"),
        ("<pre>\n  kept  indent &lt;x&gt;\n</pre>", "kept  indent <x>"),
        ("<details><summary>More</summary>", "**More**"),
        ('<div class="termy">', ""),
        ('<div class="note hidden"><p>secret</p></div>', ""),
        ("<style>\np { color: red }\n</style>", ""),
        ("<script>alert(1)", ""),
        ("<td>`<video>` tag</td>", "`<video>` tag"),
        ("<!DOCTYPE html>", ""),
    ]:
        assert readable(block) == text
