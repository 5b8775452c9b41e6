"""The version of the installed package."""

import os
import sys
from contextlib import suppress

_NAME = "pgrag-search"
_BEGINNING, _END = "pgrag_search-", ".dist-info"


def version() -> str:
    """Return the version, as the name of the folder of its metadata says: importlib reads mails."""
    for folder in sys.path:
        with suppress(OSError):
            for name in os.listdir(folder or os.curdir):
                if name.startswith(_BEGINNING) and name.endswith(_END):
                    return name.removeprefix(_BEGINNING).removesuffix(_END)
    from importlib.metadata import version  # an installer that names its folders differently

    return version(_NAME)
