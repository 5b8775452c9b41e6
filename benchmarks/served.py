"""A folder as a website on loopback, and what it answered."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen


class Served:
    """A folder that a process of its own serves until the block ends."""

    def __init__(self, folder: Path) -> None:
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed by __exit__
        self._read = 0
        self._process = subprocess.Popen(
            [sys.executable, "-u", "-m", "benchmarks.served", str(folder)],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self.url = self._process.stdout.readline().strip() if self._process.stdout else ""

    def __enter__(self) -> Served:
        urlopen(self.url).close()
        self.answers()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate()
        self._log.close()

    def answers(self) -> Counter[str]:
        """Return how many answers had each status since the last call."""
        self._log.seek(self._read)
        lines = self._log.readlines()
        self._read = self._log.tell()
        self._log.seek(0, 2)
        return Counter(line.rpartition('" ')[2].split()[0] for line in lines if '" ' in line)


class _Pages(SimpleHTTPRequestHandler):
    """Serves `guide.html` at `/guide`, too, as hosts of sites with clean addresses do."""

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        page = f"{found}.html"
        return page if not found.endswith("/") and Path(page).is_file() else found


def main() -> None:
    """Serve the folder that the command names, and print where."""
    handler = partial(_Pages, directory=sys.argv[1])
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
