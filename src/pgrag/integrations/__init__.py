"""Retrievers for frameworks: each module needs the core package of its framework alone."""
