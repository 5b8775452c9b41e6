"""Systems that pgrag is measured against; `make test-rivals` installs them."""

from importlib.util import find_spec

PACKAGES = ("apsw", "sqlite_vec", "tantivy", "lancedb", "langchain_postgres", "pghybrid")

# Elsewhere they are not part of the suite; in their own lane pytest fails if it finds none.
collect_ignore_glob = [] if all(map(find_spec, PACKAGES)) else ["test_*.py"]
