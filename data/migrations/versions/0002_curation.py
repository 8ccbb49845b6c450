"""Curation: aliases, lineage, comments, drafts, an activity log, and the text of thoughts for search."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

FROZEN = ("lineage", "comment")
OLD_COMMANDS = ("save_set", "accept", "reject", "needs_work", "reword", "undo", "redo")
NEW_COMMANDS = (
    *("decide_many", "expect", "place", "restore", "add", "merge", "split"),
    *("restore_release", "comment", "release", "branch"),
)
SHORT_FIRST = (  # a list reads no further than the columns that it needs
    *("set_name", "id", "position", "version", "status", "text", "expected_actions"),
    *("questions", "created_at", "num_support", "aliases", "support"),
)
BATCH = 500


def upgrade() -> None:
    widen_candidate_tables()
    widen_command_table()
    create_curation_tables()
    create_thought_table()
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
    """By the function that the first migration made."""
    op.execute(
        f'CREATE TRIGGER {table}_frozen BEFORE UPDATE OR DELETE ON "{table}" '
        "FOR EACH ROW EXECUTE FUNCTION refuse_change()"
    )
    op.execute(
        f'CREATE TRIGGER {table}_kept BEFORE TRUNCATE ON "{table}" '
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()"
    )


def widen_candidate_tables() -> None:
    op.add_column("release_item", aliases_column())
    with op.batch_alter_table(
        "candidate", copy_from=candidate_before(), partial_reordering=[SHORT_FIRST]
    ) as batch:
        batch.add_column(aliases_column())
        batch.add_column(sa.Column("num_support", sa.Integer(), nullable=False, server_default="0"))
        batch.alter_column("position", existing_type=sa.Integer(), type_=sa.Float())
    count_support()


def candidate_before() -> sa.Table:
    """As the first migration made it: what SQLite copies, constraints and all."""
    return sa.Table(
        "candidate",
        metadata_with_sets(),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("expected_actions", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("support", sa.JSON(), nullable=False),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.CheckConstraint(
            "status IN ('proposed', 'accepted', 'needs_work', 'rejected')",
            name=op.f("ck_candidate_status"),
        ),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer()),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("set_name", "id", name=op.f("pk_candidate")),
        sa.ForeignKeyConstraint(
            ["set_name"], ["candidate_set.name"], name=op.f("fk_candidate_set_name_candidate_set")
        ),
    )


def metadata_with_sets() -> sa.MetaData:
    metadata = sa.MetaData()
    sa.Table("candidate_set", metadata, sa.Column("name", sa.String(), primary_key=True))
    return metadata


def aliases_column() -> sa.Column:
    return sa.Column("aliases", sa.JSON(), nullable=False, server_default="[]")


def count_support() -> None:
    candidate = sa.table(
        "candidate",
        *(sa.column(name) for name in ("set_name", "id", "num_support")),
        sa.column("support", sa.JSON()),
    )
    connection = op.get_bind()
    for set_name, id, support in connection.execute(
        sa.select(candidate.c.set_name, candidate.c.id, candidate.c.support)
    ).all():
        connection.execute(
            candidate.update()
            .where(candidate.c.set_name == set_name, candidate.c.id == id)
            .values(num_support=len(support))
        )


def widen_command_table() -> None:
    """Commands say who and when themselves."""
    check = op.f("ck_command_type")
    with op.batch_alter_table("command", copy_from=command_before()) as batch:
        batch.drop_constraint(check, type_="check")
        batch.create_check_constraint(check, one_of((*OLD_COMMANDS, *NEW_COMMANDS)))
        for name in ("actor", "at", "reason"):
            batch.add_column(sa.Column(name, sa.String(), nullable=False, server_default=""))
    for name in ("actor", "at", "reason"):  # all revisions of a command have the same
        op.execute(
            f"UPDATE command SET {name} = COALESCE((SELECT MIN(candidate_revision.{name}) "
            "FROM candidate_revision WHERE candidate_revision.command_id = command.id), '')"
        )


def command_before() -> sa.Table:
    return sa.Table(
        "command",
        metadata_with_sets(),
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("args", sa.JSON(), nullable=False),
        sa.Column("undone_by", sa.Integer()),
        sa.CheckConstraint(one_of(OLD_COMMANDS), name=op.f("ck_command_type")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_command")),
        sa.ForeignKeyConstraint(
            ["set_name"], ["candidate_set.name"], name=op.f("fk_command_set_name_candidate_set")
        ),
        sa.ForeignKeyConstraint(
            ["undone_by"], ["command.id"], name=op.f("fk_command_undone_by_command")
        ),
        sa.Index(op.f("ix_command_set_name"), "set_name"),
    )


def one_of(types: tuple[str, ...]) -> str:
    return f"type IN ({', '.join(repr(type) for type in types)})"


def create_curation_tables() -> None:
    op.create_table(
        "lineage",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("from_id", sa.String(), nullable=False),
        sa.Column("to_id", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("command_id", sa.Integer(), nullable=False),
        sa.CheckConstraint("kind IN ('merge', 'split', 'derived')", name=op.f("ck_lineage_kind")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lineage")),
        sa.ForeignKeyConstraint(
            ["set_name"], ["candidate_set.name"], name=op.f("fk_lineage_set_name_candidate_set")
        ),
        sa.ForeignKeyConstraint(
            ["command_id"], ["command.id"], name=op.f("fk_lineage_command_id_command")
        ),
    )
    op.create_index(op.f("ix_lineage_set_name"), "lineage", ["set_name"])
    op.create_table(
        "comment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("command_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_comment")),
        candidate_reference("comment"),
        sa.ForeignKeyConstraint(
            ["command_id"], ["command.id"], name=op.f("fk_comment_command_id_command")
        ),
    )
    op.create_index(op.f("ix_comment_set_name"), "comment", ["set_name", "candidate_id"])
    op.create_table(
        "draft",
        sa.Column("set_name", sa.String(), nullable=False),
        sa.Column("candidate_id", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("base_version", sa.Integer(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("set_name", "candidate_id", "actor", name=op.f("pk_draft")),
        candidate_reference("draft"),
    )


def candidate_reference(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["set_name", "candidate_id"],
        ["candidate.set_name", "candidate.id"],
        name=op.f(f"fk_{table}_set_name_candidate"),
    )


def create_thought_table() -> None:
    op.create_table(
        "thought",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("trace_id", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_thought")),
        sa.UniqueConstraint("trace_id", "turn", name=op.f("uq_thought_trace_id")),
        sa.ForeignKeyConstraint(["trace_id"], ["trace.id"], name=op.f("fk_thought_trace_id_trace")),
    )
    thought = sa.table("thought", *(sa.column(name) for name in ("trace_id", "turn", "text")))
    connection = op.get_bind()
    for page in stored_traces(connection):
        rows = [row for trace in page for row in thoughts(trace)]
        if rows:
            connection.execute(thought.insert(), rows)


def stored_traces(connection: sa.Connection) -> Iterator[Any]:
    trace = sa.table("trace", sa.column("id"), sa.column("body", sa.JSON()))
    last = ""
    while True:
        page = connection.execute(
            sa.select(trace).where(trace.c.id > last).order_by(trace.c.id).limit(BATCH)
        ).all()
        if not page:
            return
        yield page
        last = page[-1].id


def thoughts(trace: Any) -> Iterator[dict[str, Any]]:
    for number, turn in enumerate(trace.body["turns"]):
        if turn["thoughts"]:
            text = "\n".join(turn["thoughts"]).encode("utf-8", "backslashreplace").decode()
            yield {"trace_id": trace.id, "turn": number, "text": text}
