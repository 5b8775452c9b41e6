"""Runs the migrations, then installs the functions, in one transaction under one lock."""

from alembic import context
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from pgrag.schema import install_functions, raw


def run(connection):
    context.configure(connection=connection, version_table_schema="pgrag", transactional_ddl=True)
    with context.begin_transaction():
        connection.execute(text("select pg_advisory_xact_lock(7238115902)"))
        connection.execute(text("set local client_min_messages = warning"))
        connection.execute(text("create schema if not exists pgrag"))
        # Not where "$user" leads: that may be the schema whose routines are replaced below.
        connection.execute(text("create extension if not exists vector with schema public"))
        # "set search_path from current" in the functions fixes what is set here.
        connection.execute(
            text(
                "select set_config('search_path', format('pg_catalog, %I', n.nspname), true)"
                " from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace"
                " where e.extname = 'vector'"
            )
        )
        context.run_migrations()
        install_functions(raw(connection))


connection = context.config.attributes.get("connection")
if connection is not None:
    run(connection)
else:
    url = context.get_x_argument(as_dictionary=True).get("url")
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        run(connection)
    engine.dispose()
