"""What docutils would take far more time for than a document is worth is done in less, or left."""

from itertools import pairwise
from typing import Any

from docutils import nodes
from docutils.parsers.rst.states import NestedStateMachine, RSTState
from docutils.readers import standalone
from docutils.transforms import Transform
from docutils.transforms.misc import Transitions
from docutils.transforms.parts import Contents

#: Labels before one place that are moved to it together, each with those before it.
_MOST_LABELS = 50
#: Lists of contents, each of which names all sections.
_MOST_CONTENTS = 10


class Reader(standalone.Reader):  # type: ignore[type-arg]  # not at run time
    """Reads a document with fewer changes. Transitions stay where they are, because to compare all
    of them takes time that grows with the square of their number, and none is shown.
    """

    def get_transforms(self) -> list[Any]:
        """Return the usual changes of a document, after those that bound them."""
        usual = [each for each in super().get_transforms() if each is not Transitions]
        return [*usual, _Fewer]


class _Fewer(Transform):
    """Leave out surplus lists of contents, and part long rows of labels."""

    default_priority = 100

    def apply(self) -> None:
        """Change the document."""
        waiting = self.document.transformer.transforms
        contents = [each for each in waiting if each[1] is Contents]
        for each in contents[_MOST_CONTENTS:]:
            waiting.remove(each)
            topic: Any = each[2] and each[2].parent
            topic.parent.remove(topic)
        row = 0
        targets = self.document.findall(nodes.target)
        for target, following in pairwise([*targets, nodes.target()]):
            row = row + 1 if _after(target) is following else 0
            if row == _MOST_LABELS:
                # labels do not pass a comment
                parent: Any = target.parent
                parent.insert(parent.index(target) + 1, nodes.comment())
                row = 0


def _after(target: nodes.target) -> nodes.Node | None:
    after = target.next_node(ascend=True)
    while isinstance(after, nodes.system_message):
        after = after.next_node(ascend=True, descend=False)
    return after


class _Machine(NestedStateMachine):
    """A reader of a part of a document that makes the states that it needs: docutils makes all for
    each part, which takes half of its time.
    """

    def add_states(self, state_classes: Any) -> None:
        """Let states be made when they are needed."""
        self.states = _States(self, state_classes)


class _States(dict[str, Any]):
    def __init__(self, machine: _Machine, classes: list[type[RSTState]]) -> None:
        super().__init__()
        self._machine = machine
        self._classes = classes

    def __missing__(self, name: str) -> Any:
        state = next(each for each in self._classes if each.__name__ == name)(self._machine)
        if hasattr(self._machine, "memo"):  # it runs; else all begin with it
            state.runtime_init()
        self[name] = state
        return state


RSTState.nested_sm = _Machine
