"""Test the REST interface against its OpenAPI document by schemathesis, with a key of each role.

Every check of schemathesis runs, except the one
that refuses a refusal: queries, filters and patterns have a grammar that OpenAPI cannot express.
"""

import json
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from campaign import corpus
from campaign.outcome import Outcome
from campaign.servers import create_keys, service

ROLES = {"search": ["pump"], "write": ["pump"], "admin": ["*"]}
EXCLUDED_CHECKS = "positive_data_acceptance"
#: Without a language model the answer is always 501, as the document says.
EXCLUDED_PATHS = ["/v1/answer"]
#: The document allows 501: a search may ask for a reranker, and none is configured. An address that
#: is too long is refused before it is looked at.
CONFIGURATION = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", 501]
[checks.negative_data_rejection]
expected-statuses = ["4xx", "5xx"]
"""
SHOWN = 3000


def _tested(address: str, key: str, *, seconds: int, seed: int) -> tuple[dict[str, Any], list[str]]:
    """The report of schemathesis, and what it prints of each failure."""
    with TemporaryDirectory() as folder:
        report, configuration = Path(folder, "report.json"), Path(folder, "schemathesis.toml")
        configuration.write_text(CONFIGURATION)
        ended = subprocess.run(
            [
                sys.executable, "-m", "schemathesis.cli", f"--config-file={configuration}",
                "run", f"{address}/openapi.json",
                "--header", f"Authorization: Bearer {key}", "--seed", str(seed),
                "--max-time", str(seconds), "--continue-on-failure", "--no-color",
                "--exclude-checks", EXCLUDED_CHECKS,
                *(f"--exclude-path={path}" for path in EXCLUDED_PATHS),
                "--report", "json", "--report-json-path", str(report),
            ],
            check=False,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
        )  # fmt: skip
        printed = ended.stdout.replace(key, "KEY")
        if not report.is_file():
            raise RuntimeError(f"schemathesis: {printed[-SHOWN:]} {ended.stderr[-SHOWN:]}")
        failures = re.search(r"(?ms)^=+ (?:FAILURES|ERRORS) =+$(.*?)^=+ \w+ =+$", printed)
        parts = re.split(r"(?m)^_{3,} (?=\S)", failures[1])[1:] if failures else []
        told = json.loads(report.read_text("utf-8"))
        if not parts:
            parts = [str(failure) for failure in [*told["failures"], *told["errors"]]]
        return told, [part.strip()[:SHOWN] for part in parts]


def run(
    url: str, *, count: int = 600, seed: int, minutes: float | None = None, data: object = None
) -> Outcome:
    """Serve a migrated, empty database that is filled first, and test it for `count` seconds."""
    seconds = min(count, int(60 * minutes)) if minutes else count
    corpus.build(url)
    counts = {"operations": 0, "requests": 0}
    faults = []
    keys = create_keys(url, **{role: (role, of, 10_000, 1000) for role, of in ROLES.items()})
    for role, key in keys.items():
        with service(url, "--require-keys") as (address, _):
            told, failures = _tested(address, key, seconds=max(5, seconds // len(ROLES)), seed=seed)
        counts["operations"] = max(counts["operations"], told["operations"]["tested"])
        counts["requests"] += told["test_cases"]["generated"]
        counts[f"as {role}"] = told["test_cases"]["generated"]
        faults += [f"as {role}: {failure}" for failure in failures]
    return Outcome("rest", counts, faults)
