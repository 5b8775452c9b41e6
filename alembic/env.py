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
        connection.execute(text("create extension if not exists vector"))
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
