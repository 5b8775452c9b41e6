"""Rows and answers as frozen values: what SQL functions return, for Python and REST alike.

Each class types and describes its fields once, for the OpenAPI document, the REST reference and the
Python API. Hits and pages: `passages`; results of searches: `searches`; generated answers:
`answers`; the others by subject.
"""
