"""Read made-up files of every format: one construct again and again, nested, mixed and damaged.

The files are made from `constructs`, most of them small, some large. A file may be refused by a
declared error. Faults are other errors, more processor time or memory than a bound by size, and
time that grows faster than the file.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from campaign.constructs import FORMATS, NUMBERS, PLAIN, WORDS, Constructs
from campaign.outcome import Faults, Outcome, turns
from campaign.packing import packed
from campaign.pages import shrunk
from campaign.reading import MOST_SECONDS, read_weighed
from pgrag.ground.errors import SourceError
from pgrag.ingest.child import Child, Limits

#: Seconds of processor time that a file may take: some at any size, and some for each byte.
SECONDS_A_FILE = 1.25
SECONDS_A_BYTE = 10e-6
#: Bytes of memory beyond those of the process that a file may take, likewise.
MEMORY_A_FILE = 64_000_000
MEMORY_A_BYTE = 1000
#: How many times the time of half a file its whole may take, if that is more than some seconds.
GROWTH, WORTH = 3.0, 0.4
#: One file in `LARGE_ONE_IN` has the large size, the others a small one.
SMALL, LARGE, LARGE_ONE_IN = (300, 1000, 2000, 5000), 100_000, 50
#: What ends a process whose file takes more than its time; that follows the size already.
_STOPPED = "took too long for its size"
#: What one page may take as a whole; see `Limits`.
LIMITS = Limits(seconds=120.0, memory=512_000_000)


@dataclass(frozen=True, slots=True)
class Made:
    """A file that can be made in any size; `told` says of what it consists."""

    suffix: str
    told: str
    content: Callable[[int], str]
    seed: str
    is_damaged: bool = False

    def file(self, size: int) -> bytes:
        """The bytes of the file whose content has about this size."""
        return self.packed(self.content(size))

    def packed(self, content: str) -> bytes:
        """The bytes of the file with another content."""
        random = Random(self.seed)
        data = packed(self.suffix, content, random)
        for _ in range(random.choice([1, 3, 30]) if self.is_damaged and data else 0):
            start = random.randrange(max(1, len(data)))
            part = random.choice([b"", random.randbytes(2), data[start : start + 40] * 3])
            data = data[:start] + part + data[start + random.choice([0, 1, 9]) :]
        return data


class Files:
    """Makes files by chance; the n-th of a seed does not depend on those before it."""

    def __init__(self, seed: int, suffixes: list[str] | None = None) -> None:
        self._seed = seed
        self._suffixes = suffixes or [*FORMATS]

    def file(self, number: int) -> tuple[Made, int]:
        """The n-th file and its size."""
        random = Random(f"{self._seed}/{number}")
        suffix = random.choice(self._suffixes)
        is_large = random.randrange(LARGE_ONE_IN) == 0
        constructs = FORMATS[suffix]
        told, content = _shape(random, constructs)
        size = LARGE if is_large else random.choice(SMALL)
        is_damaged = not is_large and random.random() < 0.15

        def whole(size: int) -> str:
            return constructs.before + content(size) + constructs.after

        return Made(suffix, told, whole, f"{self._seed}/{number}", is_damaged), size


def _shape(random: Random, constructs: Constructs) -> tuple[str, Callable[[int], str]]:
    """What a file consists of, and its content by size."""
    roll = random.random()
    first, second = (_unit(random, constructs, random.choice([1, 1, 2, 4])) for _ in range(2))
    outer = random.choice([each for each in constructs.units if "…" in each] or ["…"])
    opening, _, closing = _numbered(random, outer).partition("…")
    inner = _filled(random, constructs, closing, 1)
    if roll < 0.35:
        return f"{first!r} repeated", lambda size: _repeated(first, size)
    if roll < 0.5:
        depth = len(opening) + len(closing) or 1
        return (
            f"{outer!r} nested",
            lambda size: (
                _repeated(opening, len(opening) * size // depth)
                + first
                + closing * (size // depth if opening else 0)
            ),
        )
    if roll < 0.65:
        return f"{outer!r} of {first!r}", lambda size: opening + _repeated(first, size) + inner
    if roll < 0.8:
        return (
            f"{first!r}, then {second!r}",
            lambda size: _repeated(first, size // 2) + _repeated(second, size // 2),
        )
    if roll < 0.9 and not constructs.is_strict:
        return (
            f"{opening!r} never closed, then {first!r}",
            lambda size: _repeated(opening or first, size // 2) + _repeated(first, size // 2),
        )
    seed = random.random()
    return "constructs by chance", lambda size: _mixed(Random(seed), constructs, size)


def _mixed(random: Random, constructs: Constructs, size: int) -> str:
    units: list[str] = []
    while sum(map(len, units)) < size and len(units) < 2000:
        units.append(_repeated(_unit(random, constructs, 1), 1))
    return "".join(units)


def _unit(random: Random, constructs: Constructs, most: int) -> str:
    """Some constructs beside each other, filled with others and with words."""
    units = (random.choice(constructs.units) for _ in range(random.randint(1, most)))
    text = "".join(_filled(random, constructs, unit, random.choice([0, 1, 2])) for unit in units)
    return _numbered(random, text) or "x"


def _filled(random: Random, constructs: Constructs, unit: str, depth: int) -> str:
    while "…" in unit:
        is_word = not depth or random.random() < 0.5
        words = PLAIN if constructs.is_strict else WORDS
        other = random.choice(words if is_word else constructs.units)
        unit = unit.replace(
            "…", other if is_word else _filled(random, constructs, other, depth - 1), 1
        )
    return unit


def _numbered(random: Random, text: str) -> str:
    while "¤" in text:
        text = text.replace("¤", random.choice(NUMBERS), 1)
    return text


def _repeated(unit: str, size: int) -> str:
    count = size // max(len(unit), 1) + 1
    if "§" not in unit:
        return unit * count
    return "".join(unit.replace("§", str(at)) for at in range(count))


def _fault(child: Child, made: Made, data: bytes, size: int) -> tuple[str, float]:
    """What is wrong with reading a file, or nothing; and the seconds that it took."""
    allowed = SECONDS_A_FILE + SECONDS_A_BYTE * max(size, len(data))
    bytes_allowed = MEMORY_A_FILE + MEMORY_A_BYTE * max(size, len(data))
    seconds = allowed
    for _ in range(3):
        try:
            fault, seconds, memory = child.run(read_weighed, made.suffix, data, made.is_damaged)
        except SourceError as error:
            told = str(error).partition(" cannot be read: ")[2]
            if _STOPPED in told:
                return _STOPPED, allowed
            return (f"time: {told}" if "SIGVTALRM" in told else told), MOST_SECONDS
        if fault:
            return fault, seconds
        if memory > bytes_allowed:
            return f"memory of {memory / 1e6:,.0f} MB for {size:,} bytes", seconds
        if seconds <= allowed:
            return "", seconds
    return f"time of {seconds:.1f} s for {size:,} bytes", seconds


def _growth(child: Child, made: Made, size: int, seconds: float) -> str:
    """What is wrong with the time of a file compared to that of its half, or nothing."""
    half = made.file(size // 2)
    for _ in range(2):
        [short, long] = [_fault(child, made, data, size)[1] for data in (half, made.file(size))]
        seconds = min(seconds, long)
        if seconds <= GROWTH * short or seconds < WORTH:
            return ""
    return f"time grows from {short:.2f} s to {seconds:.2f} s when a file doubles to {size:,} bytes"


def _smallest(child: Child, made: Made, size: int, fault: str) -> str:
    """How to repeat a fault, with the smallest file that shows it."""
    kind = fault[:12]
    while size > 200 and not fault.startswith("time grows"):
        smaller, _ = _fault(child, made, made.file(size // 2), size // 2)
        if smaller[:12] != kind:
            break
        size, fault = size // 2, smaller
    if fault.startswith(("time", "memory")):
        return f"{fault}\n{made.suffix}: {made.told}, {size:,} bytes"

    def fails(content: bytes) -> bool:
        data = made.packed(content.decode("utf-8", "surrogateescape"))
        return _fault(child, made, data, size)[0][:12] == kind

    content = made.content(size).encode("utf-8", "surrogatepass")
    return f"{fault}\n{made.suffix}: {made.told}\n{shrunk(content, fails)[:500]!r}"


def run(
    url: str, *, count: int = 300_000, seed: int, minutes: float | None = None,
    data: Path | None = None, suffixes: list[str] | None = None,
) -> Outcome:  # fmt: skip
    """Read files; neither the database nor real pages are needed."""
    files = Files(seed, suffixes)
    counts = {"files": 0, "large": 0, "bytes": 0, "stopped by their time": 0, "ms the slowest": 0}
    faults = Faults()
    with Child(LIMITS) as child:
        for number in turns(count, minutes):
            made, size = files.file(number)
            content = made.file(size)
            fault, seconds = _fault(child, made, content, size)
            if fault == _STOPPED:
                counts["stopped by their time"] += 1
                fault = _growth(child, made, size // 2, MOST_SECONDS)
            elif not fault and size == LARGE and seconds > WORTH:
                fault = _growth(child, made, size, seconds)
            counts["files"] += 1
            counts["large"] += size == LARGE
            counts["bytes"] += len(content)
            counts["ms the slowest"] = max(counts["ms the slowest"], round(1000 * seconds))
            kind = f"{made.suffix} {fault[:12]} {made.told if 'time' in fault else fault}"
            if fault and kind not in faults:
                told = _smallest(child, made, size, fault)
                faults.add(kind, f"file {number} of seed {seed}: {told}")
    return Outcome("files", counts, [*faults.values()])
