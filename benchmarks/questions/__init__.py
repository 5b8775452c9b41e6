"""Our labelled questions about real documentation, and sentences with right and wrong citations.

The rows and how they were made: README.md. `python -m benchmarks.questions` checks and measures.
"""
