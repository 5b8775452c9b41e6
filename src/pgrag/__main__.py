"""`python -m pgrag` is `pgrag`."""

from pgrag.cli import main

main()
