"""The tables of the first release. History and releases refuse to be changed."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

FROZEN = ("candidate_revision", "release", "release_item")


def upgrade() -> None:
    create_trace_tables()
    create_set_tables()
    create_history_tables()
    create_release_tables()
    for table in FROZEN:
        freeze(table)


def freeze(table: str) -> None:
    """Rows can be added only."""
    if op.get_bind().dialect.name == "postgresql":
        freeze_on_postgres(table)
        return
    for event in ("UPDATE", "DELETE"):
        op.execute(
            f'CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON "{table}" '
            f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
        )


def freeze_on_postgres(table: str) -> None:
    op.execute(
        "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = '23000'; END $$"
    )
    op.execute(
        f'CREATE TRIGGER {table}_frozen BEFORE UPDATE OR DELETE ON "{table}" '
        "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
    )
    op.execute(
        f'CREATE TRIGGER {table}_kept BEFORE TRUNCATE ON "{table}" '
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def create_trace_tables() -> None:
    op.create_table(
        "trace",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("outcome", sa.String()),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("num_turns", sa.Integer(), nullable=False),
        sa.Column("num_thoughts", sa.Integer(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.CheckConstraint("outcome IN ('success', 'failure')", name=op.f("ck_trace_outcome")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trace")),
    )
    op.create_index(op.f("ix_trace_source"), "trace", ["source"])
    op.create_table(
        "quarantine",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("file", sa.String(), nullable=False),
        sa.Column("position", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("raw", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_quarantine")),
        sa.UniqueConstraint("file", "position", "reason", name=op.f("uq_quarantine_file")),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("body", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_document")),
    )
    op.create_index(op.f("ix_document_kind"), "document", ["kind"])


def candidate_columns(table: str) -> list[sa.Column | sa.CheckConstraint]:
    return [
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("expected_actions", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("support", sa.JSON(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.CheckConstraint(
            "status IN ('proposed', 'accepted', 'needs_work', 'rejected')",
            name=op.f(f"ck_{table}_status"),
        ),
    ]


def create_set_tables() -> None:
    op.create_table(
        "candidate_set",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("manifest", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_candidate_set")),
    )
    op.create_table(
        "candidate",
        *candidate_columns("candidate"),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("set_name", "id", name=op.f("pk_candidate")),
        sa.ForeignKeyConstraint(
            ["set_name"], ["candidate_set.name"], name=op.f("fk_candidate_set_name_candidate_set")
        ),
    )


def create_history_tables() -> None:
    op.create_table(
        "command",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("args", sa.JSON(), nullable=False),
        sa.Column("undone_by", sa.Integer()),
        sa.CheckConstraint(
            "type IN ('save_set', 'accept', 'reject', 'needs_work', 'reword', 'undo', 'redo')",
            name=op.f("ck_command_type"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_command")),
        sa.ForeignKeyConstraint(
            ["set_name"], ["candidate_set.name"], name=op.f("fk_command_set_name_candidate_set")
        ),
        sa.ForeignKeyConstraint(
            ["undone_by"], ["command.id"], name=op.f("fk_command_undone_by_command")
        ),
    )
    op.create_index(op.f("ix_command_set_name"), "command", ["set_name"])
    op.create_table(
        "candidate_revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("command_id", sa.Integer(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("before", sa.JSON(), nullable=False),
        sa.Column("after", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidate_revision")),
        sa.UniqueConstraint(
            "set_name", "candidate_id", "version", name=op.f("uq_candidate_revision_set_name")
        ),
        sa.ForeignKeyConstraint(
            ["set_name", "candidate_id"],
            ["candidate.set_name", "candidate.id"],
            name=op.f("fk_candidate_revision_set_name_candidate"),
        ),
        sa.ForeignKeyConstraint(
            ["command_id"], ["command.id"], name=op.f("fk_candidate_revision_command_id_command")
        ),
    )
    op.create_index(op.f("ix_candidate_revision_command_id"), "candidate_revision", ["command_id"])


def create_release_tables() -> None:
    op.create_table(
        "release",
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("hash", sa.String(), nullable=False),
        sa.Column("notes", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("set_name", "number", name=op.f("pk_release")),
        sa.ForeignKeyConstraint(
            ["set_name"], ["candidate_set.name"], name=op.f("fk_release_set_name_candidate_set")
        ),
    )
    op.create_table(
        "release_item",
        *candidate_columns("release_item"),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("set_name", "number", "position", name=op.f("pk_release_item")),
        sa.ForeignKeyConstraint(
            ["set_name", "number"],
            ["release.set_name", "release.number"],
            name=op.f("fk_release_item_set_name_release"),
        ),
    )
