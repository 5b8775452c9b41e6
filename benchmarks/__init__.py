"""Real documentation: speed by `python -m benchmarks`, quality by `benchmarks.evaluation`."""
