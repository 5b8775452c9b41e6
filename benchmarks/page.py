"""What the page and the search box for other sites cost a reader, in Chromium on this machine.

    python -m benchmarks.page --data PATH
    npm install --prefix FOLDER pagefind @docsearch/js @docsearch/css
    python -m benchmarks.page --data PATH --rivals FOLDER

PATH holds the corpus mdn-en. Prints the bytes of the first load by file, the time until the search
field takes letters, and the time from a key to the first hits that it brings; with `--rivals` the
same of Pagefind over the same pages, and the bytes of DocSearch. A `--database-url` of an earlier
run, in which MDN is indexed, saves minutes. PGRAG_CHROMIUM names the browser.
"""

import argparse
import gzip
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from markdown_it import MarkdownIt
from playwright.sync_api import Browser, sync_playwright

from benchmarks.bench import lent_app
from benchmarks.corpora import Corpora
from benchmarks.figures import Figure, figures_table, judged, table, told
from benchmarks.search_boxes import Box, key_figures, site
from pgrag.service.app import App

LOADS = 10
#: Bytes, milliseconds: what the page and the widget may take.
MOST_BYTES, MOST_WIDGET_BYTES, MOST_MS, MOST_KEY_MS = 40_000, 12_000, 300, 50


def main(arguments: Sequence[str] | None = None) -> int:
    """Index MDN, serve it, and measure."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the folder of the corpora")
    parser.add_argument("--database-url", help="a database to use (default: a new embedded server)")
    parser.add_argument("--rivals", type=Path, help="where npm has installed the rivals")
    options = parser.parse_args(arguments)
    chromium = os.environ.get("PGRAG_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        print("There is no Chromium: install it, or name it by PGRAG_CHROMIUM.", file=sys.stderr)
        return 2
    own = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="pgrag-page-") as folder:
        scratch = Path(folder)
        pages = Corpora(options.data, scratch).pages("mdn-en")
        with (
            lent_app(options.database_url, scratch) as app,
            sync_playwright() as playwright,
            playwright.chromium.launch(executable_path=chromium, args=own) as browser,
        ):
            if not any(row["library"] == "mdn" for row in app.database.call("libraries")):
                with told("index"):
                    app.index("mdn", "", str(pages))
            with site(scratch / "host") as host, serving(app.url) as service, told("page"):
                (scratch / "host" / "index.html").write_text(_host(app, host, service), "utf-8")
                figures, files = measured(browser, boxes(service, host))
            if options.rivals:
                with told("rivals"):
                    figures += rivals(browser, options.rivals, pages, scratch)
    print(figures_table(figures), "", files, sep="\n")
    return 0


def boxes(service: str, host: str) -> list[Box]:
    """The page, and the widget on a site of another origin."""
    field, hits = "input[role=combobox]", "[role=listbox]"
    return [
        Box("page", f"{service}/?library=mdn", field, hits),
        Box(
            "widget",
            f"{host}/",
            field,
            hits,
            opener="document.querySelector('pgrag-search').open()",
        ),
    ]


def measured(browser: Browser, given: Sequence[Box]) -> tuple[list[Figure], str]:
    """The figures of both, and the files of their first loads."""
    figures, rows = [], []
    most = {"page": MOST_BYTES, "widget": MOST_WIDGET_BYTES}
    for box in given:
        loads = [box.first_load(browser) for _ in range(LOADS)]
        files = {
            name: size for name, size in loads[0][0].items() if not name.startswith("v1/") and size
        }
        rows += [(box.name, name, f"{size:,}") for name, size in files.items()]
        figures.append(
            judged(
                f"{box.name}: first load, {len(files)} files", "loopback", sum(files.values()),
                most[box.name], "bytes", digits=0,
            )
        )  # fmt: skip
        ready = sorted(milliseconds for _, milliseconds in loads)[LOADS // 2]
        figures.append(judged(f"{box.name}: until it takes letters", "median", ready, MOST_MS))
        figures += key_figures(box, browser, MOST_KEY_MS)
    return figures, table(("of", "file", "bytes"), rows)


def rivals(browser: Browser, folder: Path, pages: Path, scratch: Path) -> list[Figure]:
    """Pagefind over the same pages, and the bytes of DocSearch, which searches elsewhere."""
    modules = folder / "node_modules"
    docsearch = [
        modules / "@docsearch/js/dist/umd/index.js",
        modules / "@docsearch/css/dist/style.css",
    ]
    size = sum(len(gzip.compress(file.read_bytes())) for file in docsearch)
    figures = [Figure("DocSearch: first load, 2 files", "package", f"{size:,} bytes")]
    built = scratch / "pagefind"
    _write_html(pages, built)
    subprocess.run(
        [modules / ".bin/pagefind", "--site", built], check=True, stdout=subprocess.DEVNULL
    )
    with site(built) as address:
        box = Box("Pagefind", f"{address}/", ".pagefind-ui__search-input", ".pagefind-ui__results")
        files, ready = box.first_load(browser)
        figures += [
            Figure(f"Pagefind: first load, {len(files)} files", "loopback",
                   f"{sum(files.values()):,} bytes"),
            Figure("Pagefind: until it takes letters", "once", f"{ready:.1f} ms"),
        ]  # fmt: skip
        # Without the wait of 300 ms after each key that its box has by default.
        return figures + key_figures(box, browser)


@contextmanager
def serving(url: str) -> Iterator[str]:
    """`pgrag serve` as users start it; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "pgrag", "serve", "--port", str(port), "--no-worker"],
        env={**os.environ, "PGRAG_DATABASE_URL": url, "PGRAG_RECORD_SEARCHES": "false"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        while process.poll() is None:
            try:
                with urlopen(f"{address}/readyz", timeout=5):
                    break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait()


def _host(app: App, host: str, service: str) -> str:
    """A page of a site of its own with the search box, and a key for it."""
    [row] = app.database.query(
        "select pgrag.create_key(%s, 'search', '{mdn}', kind => 'publishable', origins => %s,"
        " rate => 1000, concurrency => 50, expires_in => '1 day') as secret",
        [f"page-{time.time_ns()}", [host]],
    )
    return (
        f"<!doctype html><title>Site</title><script src={service}/widget.js defer></script>"
        f"<pgrag-search library=mdn key={row['secret']}></pgrag-search>"
    )


def _write_html(pages: Path, folder: Path) -> None:
    """Write the pages as HTML, and one with Pagefind's box."""
    markdown = MarkdownIt("commonmark").enable("table")
    for source in pages.rglob("*.md"):
        matter, _, body = source.read_text("utf-8").partition("\n---\n")
        title = next((line[6:] for line in matter.splitlines() if line.startswith("title:")), "")
        file = folder / source.relative_to(pages).with_suffix(".html")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"<!doctype html><html lang=en><title>{title}</title><body><h1>{title}</h1>"
            f"{markdown.render(body)}",
            "utf-8",
        )
    (folder / "index.html").write_text(
        "<!doctype html><title>Site</title><link rel=stylesheet href=pagefind/pagefind-ui.css>"
        "<script src=pagefind/pagefind-ui.js></script><div id=search></div><script>"
        "new PagefindUI({element: '#search', debounceTimeoutMs: 0, showImages: false})</script>",
        "utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
