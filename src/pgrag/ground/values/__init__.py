"""Rows and answers as frozen values: what SQL functions return, for Python and REST alike.

Every field is typed and described once, in its class; the OpenAPI document, the REST reference and
the Python API read these classes. Hits and pages: `passages`; answers of searches: `searches`;
answers in words: `answers`; the rest by subject.
"""
