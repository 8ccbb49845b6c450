"""Alembic's entry: runs the steps on the connection, and in the transaction, that `..schema` hands over."""

from alembic import context

from forethought.data.schema import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    version_table=VERSION_TABLE,
    render_as_batch=True,  # SQLite changes a table by copying it
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
