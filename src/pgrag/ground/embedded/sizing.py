"""Server settings derived from the size of the machine."""

import os
from contextlib import suppress
from pathlib import Path

_MB = 1 << 20
# Of a container, by cgroups v2 and v1.
_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def memory() -> int:
    """Bytes of memory of the machine, or of the container if it may use less."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for path in _LIMITS:
        with suppress(OSError, ValueError):
            sizes.append(int(path.read_text()))
    return min(sizes)


def sized(memory: int, processors: int) -> dict[str, str]:
    """Return the settings for a machine that other programs use, too. An eighth of its memory is
    shared, within bounds; `work_mem` is taken by every sort. A query is spread over processors only
    if there are enough of them for several clients: with few, parallel queries take them from each
    other.
    """
    return {
        "shared_buffers": _megabytes(memory // 8, 128, 4096),
        "effective_cache_size": _megabytes(memory // 2, 512, 1 << 20),
        "work_mem": _megabytes(memory // 512, 16, 128),
        "maintenance_work_mem": _megabytes(memory // 16, 128, 2048),
        "max_parallel_workers_per_gather": str(min(processors // 4, 2)),
        "max_parallel_maintenance_workers": str(min(processors - 1, 4)),
    }


def _megabytes(size: int, least: int, most: int) -> str:
    return f"{min(max(size // _MB, least), most)}MB"
