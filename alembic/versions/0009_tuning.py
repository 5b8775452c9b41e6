"""Tuning: what was tried for a library, what came of it, and what was before.

Revision ID: 0009
Revises: 0008
"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        create table pgrag.tuning_runs (
            tuning_id bigint generated always as identity primary key,
            library_id bigint not null,
            library text not null,
            version text not null,
            source text not null check (source in ('judgements', 'feedback', 'library')),
            seed bigint not null,
            questions jsonb not null default '{}',
            settings_before jsonb not null,
            settings_after jsonb not null,
            proposed jsonb not null default '{}',
            training jsonb,
            validation jsonb,
            searched jsonb,
            trials jsonb not null default '[]',
            notes text[] not null default '{}',
            outcome text not null check (
                outcome in (
                    'accepted', 'dry run', 'not better', 'too little', 'overtaken', 'taken back'
                )
            ),
            reason text not null,
            started_at timestamptz not null,
            finished_at timestamptz not null,
            undone_at timestamptz
        );
        create index tuning_runs_library on pgrag.tuning_runs (library_id);
        """
    )


def downgrade() -> None:
    op.execute("drop table pgrag.tuning_runs")
