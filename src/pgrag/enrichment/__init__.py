"""What a language model adds to documents at indexing: situations and summaries."""

from pgrag.enrichment.kinds import Kind, parse_kinds
from pgrag.enrichment.report import EnrichmentPlan, EnrichmentReport
from pgrag.enrichment.runner import Enricher

__all__ = ["Enricher", "EnrichmentPlan", "EnrichmentReport", "Kind", "parse_kinds"]
