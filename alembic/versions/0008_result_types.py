"""Rows of results: whole pages, and the hits of many queries.

Revision ID: 0008
Revises: 0007
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        create type pgrag.page_hit as (
            page_id bigint,
            library text,
            version text,
            key text,
            url text,
            title text,
            path text[],
            link text,
            content text,
            score double precision,
            keyword_score double precision,
            semantic_score double precision,
            hybrid_score double precision,
            aggregate text,
            passage_count integer,
            document_id bigint,
            heading text,
            anchor text,
            snippet text,
            cursor text
        );

        create type pgrag.batch_hit as (
            query_number integer,
            query text,
            error_code text,
            error text,
            error_hint text,
            document_id bigint,
            page_id bigint,
            library text,
            version text,
            url text,
            title text,
            path text[],
            content text,
            score double precision,
            keyword_score double precision,
            semantic_score double precision,
            key text,
            level smallint,
            heading text,
            anchor text,
            types text[],
            sort_order integer,
            line_start integer,
            line_end integer,
            link text,
            snippet text,
            cursor text,
            explanation jsonb,
            hybrid_score double precision,
            search_id uuid
        );
        """
    )


def downgrade() -> None:
    op.execute("drop type pgrag.batch_hit, pgrag.page_hit")
