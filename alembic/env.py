"""Runs the migrations, then installs the functions, in one transaction under one lock."""

from alembic import context
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool

from pgrag.ground.routines import drop_functions, install_functions
from pgrag.ground.schema import prepare, raw, sql_root


def run(connection):
    context.configure(connection=connection, version_table_schema="pgrag", transactional_ddl=True)
    with context.begin_transaction():
        prepare(raw(connection))
        migration = context.get_context()
        if migration.get_current_revision() != context.get_revision_argument():
            # They name tables and types that a revision may change.
            drop_functions(raw(connection))
        context.run_migrations()
        if migration.get_current_revision() == context.get_head_revision():
            install_functions(raw(connection), sql_root())


connection = context.config.attributes.get("connection")
if connection is not None:
    run(connection)
else:
    url = context.get_x_argument(as_dictionary=True).get("url")
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        run(connection)
    engine.dispose()
