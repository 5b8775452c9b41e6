"""Plugins of site generators: a build indexes what it has written, and shows the search box."""
