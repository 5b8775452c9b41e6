"""Check and measure our labelled questions: `python -m benchmarks.questions --help`."""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.corpora import Corpora
from benchmarks.questions import checking, citations, confidence, east_asian, measuring, versions
from benchmarks.questions.rows import SETS, half, read, write_set
from pgrag.service.app import App


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; exit status 1 means that a question has faults."""
    options = _parser().parse_args(arguments)
    split = "held" if getattr(options, "held", False) else "open"
    names = getattr(options, "only", None) or [*SETS]
    if options.command == "write":
        for name in names:
            write_set(half(read(name), split), options.folder / name, options.unit)
        return 0
    with tempfile.TemporaryDirectory(prefix="pgrag-questions-") as scratch, App() as app:
        corpora = Corpora(getattr(options, "data", Path()), Path(scratch))
        if options.command == "check":
            pairs = [(read(name), corpora.pages(SETS[name])) for name in names]
            faults = [fault for each in pairs for fault in checking.faults(*each)]
            if not options.only:
                faults += east_asian.faults(east_asian.read(), corpora)
            print("\n".join(faults) or "Every page, section and fact is there.")
            return int(bool(faults))
        app.upgrade()
        match options.command:
            case "citations":
                sentences = citations.read()
                print(citations.tables(sentences, citations.doubted(app, sentences)))
            case "confidence":
                made = confidence.fit if options.fit else confidence.measure
                print(made(app, corpora))
            case "fusion":
                print(measuring.compare_fusions(app, corpora, split))
            case "versions":
                print(versions.measure(app, corpora, show=options.wrong))
            case "segmenters":
                print(east_asian.measure(app, corpora))
            case "measure":
                print(measuring.measure(app, corpora, split, names))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.questions", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, help in (
        ("check", "whether every page, section and fact that the questions name is in the corpora"),
        ("measure", "nDCG@10 of pages and sections, and the facts among the sources of answers"),
        ("fusion", "nDCG@10 of words alone and of three fusions"),
        ("versions", "whether questions about a version are answered from it, or refused"),
        ("segmenters", "nDCG@10 of Chinese, Japanese, Korean, and over the words of segmenters"),
        ("confidence", "how well confidence tells what is answered; into docs/confidence.md"),
    ):
        command = commands.add_parser(name, help=help)
        command.add_argument("data", type=Path, help="folder of the corpora")
    commands.choices["confidence"].add_argument(
        "--fit", action="store_true", help="print the constants that fit the other sets"
    )
    commands.choices["versions"].add_argument(
        "--wrong", action="store_true", help="also list the questions that were not right"
    )
    write = commands.add_parser("write", help="sets in BEIR's layout, for pgrag eval import")
    write.add_argument("folder", type=Path, help="where the sets go, a folder each")
    write.add_argument("--unit", choices=("page", "section"), default="page")
    commands.add_parser("citations", help="precision and recall of doubts about citations")
    for command in commands.choices.values():
        command.add_argument("--only", nargs="+", choices=[*SETS], metavar="SET")
    for name in ("measure", "write"):
        commands.choices[name].add_argument(
            "--held", action="store_true", help="the held half: only for the figure of a release"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
