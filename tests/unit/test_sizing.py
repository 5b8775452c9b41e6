"""The embedded server takes a share of the machine, never most of it."""

import pytest

from pgrag.ground import settings
from pgrag.ground.embedded import initialise

GB = 1 << 30


def megabytes(text: str) -> int:
    assert text.endswith("MB")
    return int(text[:-2])


@pytest.mark.parametrize("memory", [GB, 4 * GB, 24 * GB, 512 * GB])
@pytest.mark.parametrize("processors", [1, 2, 8, 64])
def test_what_it_may_take_at_once_fits_into_memory(memory, processors):
    sized = initialise.sized(memory, processors)
    taken = sum(megabytes(sized[name]) for name in ("shared_buffers", "maintenance_work_mem"))
    assert taken + 10 * megabytes(sized["work_mem"]) < memory / (1 << 20)


def test_memory_and_processors_are_shared_within_bounds_and_containers_count(tmp_path, monkeypatch):
    of_machine = settings.memory()
    own, group = tmp_path / "own", tmp_path / "system.slice/pgrag.service"
    group.mkdir(parents=True)
    monkeypatch.setattr(settings, "_GROUPS", tmp_path)
    monkeypatch.setattr(settings, "_OWN_GROUP", own)
    (tmp_path / "memory.max").write_text("max\n")
    (group / "memory.max").write_text("max\n")
    assert settings.memory() >= of_machine
    own.write_text("1:name=systemd:/x\n0::/system.slice/pgrag.service\n")
    for limited in (group, group.parent, tmp_path):
        (limited / "memory.max").write_text("536870912\n")
        assert settings.memory() == GB // 2
        assert settings.Settings(_env_file=None).max_page_memory == 100_000_000
        (limited / "memory.max").write_text("max\n")
    (group / "memory.max").write_text(str(2 * GB))
    assert settings.Settings(_env_file=None).max_page_memory == GB // 4
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/memory.limit_in_bytes").write_text("536870912\n")
    assert settings.memory() == GB // 2
    for memory, shared in [
        (GB // 2, 128),
        (2 * GB, 256),
        (16 * GB, 2048),
        (24 * GB, 3072),
        (256 * GB, 4096),
    ]:
        assert megabytes(initialise.sized(memory, 2)["shared_buffers"]) == shared
    for processors, gather, maintenance in [(1, 0, 0), (2, 0, 1), (4, 1, 3), (16, 2, 4)]:
        sized = initialise.sized(GB, processors)
        assert int(sized["max_parallel_workers_per_gather"]) == gather
        assert int(sized["max_parallel_maintenance_workers"]) == maintenance
