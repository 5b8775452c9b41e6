"""Harbour handbook."""

project = "Harbour"
html_baseurl = "{site}"
extensions = ["pgrag.generators.sphinx"]
pgrag_library = "sphinx"
pgrag_service = "{service}"
pgrag_key = "{key}"
