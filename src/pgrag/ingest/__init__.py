"""A source becomes a version of a library; `page` reads one file, `pipeline` writes them all."""
