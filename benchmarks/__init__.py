"""Benchmarks on real documentation: speed by `python -m benchmarks`, quality by `.evaluation`."""
