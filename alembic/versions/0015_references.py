"""Plain links are of the kind references.

Revision ID: 0015
Revises: 0014
"""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    rename("links_to", "references")


def downgrade() -> None:
    rename("references", "links_to")


def rename(before: str, after: str) -> None:
    """Rename the kind of links and its entry, with the changes that a user has made to it.

    A relation that an author gave this name keeps it.
    """
    op.execute(
        f"""
        update pgrag.edges
        set kind = '{after}'
        where kind = '{before}' and rule in ('explicit:wikilink', 'explicit:link');

        update pgrag.edge_kinds
        set name = '{after}'
        where name = '{before}'
            and not exists (select from pgrag.edge_kinds as k where k.name = '{after}');

        -- What the next release ships is compared with what the last one shipped.
        update pgrag.configuration_versions
        set configuration = jsonb_set(
            configuration #- '{{edge_kinds,{before}}}',
            '{{edge_kinds,{after}}}',
            configuration #> '{{edge_kinds,{before}}}'
        )
        where configuration -> 'edge_kinds' ? '{before}'
            and not configuration -> 'edge_kinds' ? '{after}';
        """
    )
