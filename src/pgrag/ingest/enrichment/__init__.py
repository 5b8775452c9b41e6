"""Texts that a language model adds to passages: context sentences and summaries."""

from pgrag.ingest.enrichment.kinds import Kind, parse_kinds
from pgrag.ingest.enrichment.runner import Enricher, EnrichmentPlan, EnrichmentReport

__all__ = ["Enricher", "EnrichmentPlan", "EnrichmentReport", "Kind", "parse_kinds"]
