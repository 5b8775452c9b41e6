"""Turns that callers share: the share of each, the order of those who wait, the end of a wait."""

import math

import anyio
import pytest

from pgrag.ground.errors import Busy
from pgrag.service.turns import Turns


class Crowd:
    """Tasks that take turns; `order` is who has begun, and `ends` ends the turn of one."""

    def __init__(self, turns, group):
        self.turns, self.group, self.order, self.ends = turns, group, [], []

    async def come(self, *holders):
        """Let each holder ask for a turn, and wait until all have one or wait for it."""
        for holder in holders:
            self.group.start_soon(self._take, holder)
            await anyio.wait_all_tasks_blocked()

    async def end(self, holder):
        """End the oldest turn of a holder; return who came next."""
        before = len(self.order)
        index = next(n for n, (name, _) in enumerate(self.ends) if name == holder)
        self.ends.pop(index)[1].set()
        await anyio.wait_all_tasks_blocked()
        return self.order[before:]

    async def _take(self, holder):
        end = anyio.Event()
        async with self.turns.turn(holder):
            self.order.append(holder)
            self.ends.append((holder, end))
            await end.wait()


def crowded(work, total, patience=math.inf):
    """Run `work` with a crowd, and end what is left."""

    async def run():
        async with anyio.create_task_group() as group:
            crowd = Crowd(Turns(total, "All are in use.", "Wait.", patience=patience), group)
            await work(crowd)
            group.cancel_scope.cancel()
        assert crowd.turns.is_idle

    anyio.run(run)


@pytest.mark.parametrize(("total", "most"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (20, 10)])
def test_a_holder_has_at_most_half(total, most):
    async def work(crowd):
        await crowd.come(*["a"] * 30)
        assert crowd.order == ["a"] * most
        await crowd.come(*["b"] * 30)
        assert crowd.order[most:] == ["b"] * (total - most)

    crowded(work, total)


def test_holders_come_in_rotation_however_many_requests_each_has():
    async def work(crowd):
        await crowd.come("x", "y", *["a"] * 9, "b", "c", "b")
        came = [await crowd.end("x"), await crowd.end("y")]
        came += [await crowd.end(crowd.ends[0][0]) for _ in range(4)]
        assert came == [["a"], ["b"], ["c"], ["a"], ["b"], ["a"]]

    crowded(work, 2)


def test_a_holder_at_its_limit_is_passed_over():
    async def work(crowd):
        await crowd.come("a", "b", "a", "a", "c")
        assert await crowd.end("b") == ["c"]
        assert await crowd.end("c") == []
        assert await crowd.end("a") == ["a"]

    crowded(work, 2)


def test_who_gives_up_leaves_the_line_and_who_is_ended_gives_back():
    async def work(crowd):
        await crowd.come("a")
        async with anyio.create_task_group() as impatient:
            other = Crowd(crowd.turns, impatient)
            await other.come("b", "b")
            impatient.cancel_scope.cancel()
        assert await crowd.end("a") == []
        await crowd.come("c")
        assert crowd.order == ["a", "c"]

    crowded(work, 1)


def test_a_turn_that_comes_when_its_holder_gives_up_goes_to_the_next():
    async def work(crowd):
        await crowd.come("a")
        async with anyio.create_task_group() as impatient:
            other = Crowd(crowd.turns, impatient)
            await other.come("b")
            await crowd.come("c")
            crowd.ends.pop(0)[1].set()
            impatient.cancel_scope.cancel()
        await anyio.wait_all_tasks_blocked()
        assert crowd.order == ["a", "c"]

    crowded(work, 1)


def test_patience_ends_and_says_whose_turns_are_in_use():
    async def work(crowd):
        await crowd.come("a", "b")
        with pytest.raises(Busy, match=r"As many .* of this caller run as may .*: 1 of 2\."):
            async with crowd.turns.turn("a"):
                pass
        with pytest.raises(Busy, match=r"All are in use\.") as raised:
            async with crowd.turns.turn("c"):
                pass
        assert raised.value.hint == "Wait."

    crowded(work, 2, patience=0.01)
