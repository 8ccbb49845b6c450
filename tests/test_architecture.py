"""The arrow of imports, circles, sizes and names: what keeps the tree readable, held by a machine."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAY_IMPORT = {
    "data": set(),
    "miner": {"data"},
    "scorer": {"data"},
    "ui": {"data", "miner", "scorer"},
}
STREAMLIT = {"app.py", "wiring.py", "cards.py"}
NO_NOUN = {"utils", "helpers", "common", "misc", "base", "types", "manager"}
MOST_LINES, LONGEST_FUNCTION = 350, 60
HOOKS = ROOT / "data" / "exports" / "hooks"  # run in a trainer's process; nothing here imports them
FILES = sorted(
    p for folder in MAY_IMPORT for p in (ROOT / folder).rglob("*.py") if HOOKS not in p.parents
)
NAMES = [str(path.relative_to(ROOT)) for path in FILES]
TREES = {path: ast.parse(path.read_text("utf-8")) for path in FILES}


def is_commands(path: Path) -> bool:
    """Whether typer makes options of the file's parameters, a few lines each."""
    return path.name == "cli.py" or path.name.endswith("_commands.py")


def imports(path: Path) -> set[tuple[str, ...]]:
    """Our own modules that a file imports anywhere, functions included, as paths below the root."""
    package = path.relative_to(ROOT).parts[:-1]
    found: set[tuple[str, ...]] = set()
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                module = package[: len(package) - node.level + 1] + module
            elif module[:1] == ("forethought",):
                module = module[1:]
            else:
                continue
            found |= {module, *((*module, alias.name) for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {
                tuple(a.name.split(".")[1:])
                for a in node.names
                if a.name.startswith("forethought.")
            }
    return found


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_imports_follow_the_arrow(path):
    folder = path.relative_to(ROOT).parts[0]
    reached = {module[0] for module in imports(path) if module} & MAY_IMPORT.keys()

    assert reached - {folder} <= MAY_IMPORT[folder]


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_our_folders_are_never_imported_by_their_bare_name(path):
    """`import data` would find the folder at the root and make second copies of its classes."""
    for node in ast.walk(TREES[path]):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names.append(node.module or "")
        assert not {name.split(".")[0] for name in names} & MAY_IMPORT.keys()


def test_no_circle_of_imports():
    modules = {path.relative_to(ROOT).with_suffix("").parts: path for path in FILES}
    graph = {name: imports(path) & modules.keys() for name, path in modules.items()}
    done: set[tuple[str, ...]] = set()

    def visit(name: tuple[str, ...], above: tuple[tuple[str, ...], ...]) -> None:
        assert name not in above, " -> ".join("/".join(part) for part in (*above, name))
        if name not in done:
            for other in sorted(graph[name]):
                visit(other, (*above, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_files_and_functions_stay_short(path):
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef) and not is_commands(path):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            assert lines <= LONGEST_FUNCTION, f"{node.name}: {lines} lines"


def test_a_file_is_named_after_a_noun():
    assert not NO_NOUN & {path.stem for path in FILES}


def test_only_screens_know_streamlit():
    for path in FILES:
        roots = {
            alias.name.split(".")[0]
            for node in ast.walk(TREES[path])
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        if "streamlit" in roots:
            assert path.name in STREAMLIT or path.stem.endswith(("_screen", "_panel")), path


@pytest.mark.parametrize("name", ["traces.py", "candidates.py", "identity.py", "render.py"])
def test_values_do_not_know_where_they_are_kept(name):
    path = ROOT / "data" / name
    text = path.read_text("utf-8")

    assert not any(word in text for word in ("sqlite", "sqlmodel", "pathlib", "open("))


def test_html_is_never_let_through_unescaped():
    for path in FILES:
        text = path.read_text("utf-8")
        assert "unsafe_allow" not in text, path
        assert "trust_remote_code=True" not in text, path
        assert "pickle" not in text, path
