"""Files made by chance are read in bounds, and what is not is reported with its smallest file."""

import time

import pytest
from campaign import files, reading
from campaign.constructs import FORMATS

from pgrag.ground.errors import SourceError
from pgrag.ingest.child import Child


class InThisProcess(Child):
    """Takes the place of the child, so that a test can plant a fault in what it runs."""

    def run(self, function, *arguments, **options):
        return function(*arguments, **options)


@pytest.fixture
def planted(monkeypatch):
    """Plants a reader of text in the place of all others."""

    def plant(read):
        readers = dict.fromkeys(FORMATS, lambda key, data: read(data))
        monkeypatch.setattr(reading, "_READERS", readers)
        monkeypatch.setattr(files, "Child", InThisProcess)
        monkeypatch.setattr(reading.signal, "setitimer", lambda *_: None)
        monkeypatch.setattr(reading, "_largest_memory", lambda: memory[0])
        memory[0] = 0

    memory = [0]
    plant.memory = memory
    return plant


def spend(seconds):
    deadline = time.process_time() + seconds
    while time.process_time() < deadline:
        pass


def test_files_of_every_format_are_the_same_again_and_read_without_a_fault():
    first, second = (files.Files(9) for _ in range(2))
    made = [first.file(n) for n in range(300)]
    assert {each.suffix for each, _ in made} == {*FORMATS}
    for number in range(60):
        [(here, size), (there, same)] = made[number], second.file(number)
        assert (here.told, here.file(500), size) == (there.told, there.file(500), same)
    assert first.file(3)[0].told != files.Files(10).file(3)[0].told
    outcome = files.run("", count=200, seed=4)
    assert outcome.counts["files"] == 200
    assert outcome.counts["large"] > 0
    assert outcome.faults == []


def test_a_file_of_twice_the_size_has_the_same_construct_twice_as_often():
    unit = files._repeated("x§ ", 300)
    assert unit.startswith("x0 x1 x2 ")
    assert files._repeated("x§ ", 600).startswith(unit)


def test_an_error_is_reported_with_the_smallest_file_that_has_it(planted):
    def read(data):
        if b"Close" in data:
            raise KeyError("Close")

    planted(read)
    fault = files.run("", count=60, seed=1, suffixes=["txt"]).faults[0]
    assert "KeyError at test_campaign_files.py" in fault
    assert fault.endswith("\nb'Close'")


def test_time_and_memory_beyond_the_size_are_reported(planted, monkeypatch):
    monkeypatch.setattr(files, "SECONDS_A_FILE", 0.01)
    monkeypatch.setattr(files, "SECONDS_A_BYTE", 1e-6)
    planted(lambda data: spend(0.02))
    [fault] = files.run("", count=1, seed=1, suffixes=["md"]).faults
    assert "time of 0.0 s for" in fault
    planted(lambda data: planted.memory.__setitem__(0, planted.memory[0] + 90_000_000))
    [fault] = files.run("", count=1, seed=1, suffixes=["md"]).faults
    assert "memory of 90 MB for" in fault


def test_time_that_grows_with_the_square_is_reported_and_time_that_grows_as_the_size_is_not(
    planted, monkeypatch
):
    monkeypatch.setattr(files, "LARGE_ONE_IN", 1)
    monkeypatch.setattr(files, "WORTH", 0.1)
    planted(lambda data: spend(0.2 * len(data) / files.LARGE))
    assert files.run("", count=1, seed=1, suffixes=["txt"]).faults == []
    planted(lambda data: spend(0.4 * (len(data) / files.LARGE) ** 2))
    [fault] = files.run("", count=1, seed=1, suffixes=["txt"]).faults
    assert "time grows from 0.1" in fault


class Stopped(Child):
    """A child that always ends by its limit of processor time."""

    def run(self, function, *arguments, **options):
        raise SourceError("txt: cannot be read: its parser took too long for its size.")


class Full(Child):
    """A child that always needs more memory than it may have."""

    def run(self, function, *arguments, **options):
        raise SourceError("txt: cannot be read: it takes more than 5 bytes of memory.")


def test_a_limit_of_time_that_follows_the_size_is_counted_and_one_of_memory_is_a_fault(monkeypatch):
    monkeypatch.setattr(files, "Child", Stopped)
    outcome = files.run("", count=3, seed=1, suffixes=["txt"])
    assert outcome.counts["stopped by their time"] == 3
    assert outcome.faults == []
    monkeypatch.setattr(files, "Child", Full)
    [fault] = files.run("", count=3, seed=1, suffixes=["txt"]).faults
    assert "it takes more than 5 bytes of memory" in fault
