"""Speed and quality on real documentation: `python -m benchmarks --data PATH`."""
