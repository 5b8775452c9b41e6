"""Campaigns that look for faults, with seeds that repeat them; see docs/security.md."""
