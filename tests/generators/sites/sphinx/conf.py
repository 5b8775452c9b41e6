"""Harbour handbook."""

project = "Harbour"
html_js_files = [("{script}", {"defer": "defer"})]
