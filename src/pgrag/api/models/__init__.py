"""What goes in, and what comes out.

Arguments are checked; answers only describe, for the OpenAPI document: rows are written as the
database gives them.
"""
