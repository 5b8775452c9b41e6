"""Roles see the libraries that were granted to them; searches and answers know their caller.

Revision ID: 0019
Revises: 0018
"""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        create table pgrag.role_libraries (
            grant_id bigint generated always as identity primary key,
            role_name text not null,
            -- Null: every library.
            library_id bigint references pgrag.libraries (library_id) on delete cascade,
            constraint role_libraries_key unique nulls not distinct (role_name, library_id)
        );
        create index role_libraries_library on pgrag.role_libraries (library_id);
        -- The key or role in whose name it was recorded; null before.
        alter table pgrag.searches add column caller text;
        alter table pgrag.answers add column caller text;
        """
    )


def downgrade() -> None:
    op.execute(
        """
        drop view if exists _pgrag.matching_documents, _pgrag.own_grants;
        do $$
        declare
            secured record;
        begin
            for secured in
                select p.schemaname, p.tablename, p.policyname
                from pg_policies as p
                where p.schemaname = 'pgrag'
            loop
                execute format(
                    'drop policy %I on %I.%I',
                    secured.policyname, secured.schemaname, secured.tablename
                );
                execute format(
                    'alter table %I.%I disable row level security',
                    secured.schemaname, secured.tablename
                );
            end loop;
            for secured in
                select r.rolname
                from pg_roles as r
                where r.rolname in ('pgrag_reader', 'pgrag_writer', 'pgrag_admin')
            loop
                execute format(
                    'revoke all on all tables in schema pgrag from %1$I;'
                    'revoke all on all sequences in schema pgrag from %1$I', secured.rolname
                );
            end loop;
        end;
        $$;
        -- Policies and the view kept these from being dropped with the others.
        drop function if exists
            _pgrag.narrowed_scope,
            _pgrag.visible_libraries,
            _pgrag.sees_every_library,
            _pgrag.is_admin,
            _pgrag.caller;
        alter table pgrag.answers drop column caller;
        alter table pgrag.searches drop column caller;
        drop table pgrag.role_libraries;
        """
    )
