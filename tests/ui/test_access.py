"""Who may do what: roles out of a file, a store that refuses, and that nobody is let in by mistake."""

import pytest
from curated_store import curated
from hypothesis import given
from hypothesis import strategies as st

from forethought.data import commands, versions
from forethought.data.candidates import Status
from forethought.data.commands import Edit
from forethought.data.errors import ForethoughtError
from forethought.ui.access import (
    RIGHTS,
    Access,
    Actor,
    Forbidden,
    Right,
    Role,
    guarded,
    local_actor,
    read_access,
)
from forethought.ui.curation import Decision, Desk

ACCESS = Access({"ann@example.org": Role.ADMIN, "@example.org": Role.CURATOR})


def claims(email: object, **more: object) -> dict[str, object]:
    return {"is_logged_in": True, "email": email, **more}


def test_an_address_has_its_own_role_and_else_its_domain_s():
    assert ACCESS.actor(claims("Ann@Example.org")) == Actor("ann@example.org", Role.ADMIN)
    assert ACCESS.actor(claims("bob@example.org")).role is Role.CURATOR


@pytest.mark.parametrize(
    "claimed",
    [
        claims("eve@example.com"),
        claims("eve@sub.example.org"),
        claims("eve@example.org@example.com"),
        claims("eve@notexample.org"),
        claims("@"),
        claims(""),
        claims(None),
        claims(["ann@example.org"]),
        claims("ann@example.org", email_verified=False),
        {},
    ],
)
def test_nobody_else_gets_in(claimed):
    with pytest.raises(Forbidden):
        ACCESS.actor(claimed)


def test_rights_grow_with_the_role():
    viewer, curator, admin = (RIGHTS[role] for role in Role)

    assert not viewer
    assert curator == {Right.EDIT}
    assert admin == set(Right)
    with pytest.raises(Forbidden, match="a curator may not release or restore a set"):
        Actor("ann", Role.CURATOR).require(Right.RELEASE)


def test_a_viewer_s_store_reads_everything_and_writes_nothing(tmp_path):
    store = curated(tmp_path / "store.db")
    name = store.set_names()[0]
    first = store.candidate_set(name).candidates[0]
    edit = Edit(name, first.id, first.version, "eve")
    seen = guarded(store, Role.VIEWER)

    assert seen.candidate_set(name) == store.candidate_set(name)
    assert list(seen.traces()) == list(store.traces())
    for write in (
        lambda: commands.accept(seen, edit),
        lambda: commands.reword(seen, edit, "I should look."),
        lambda: commands.undo(seen, name, "eve"),
        lambda: seen.release(name, "", "eve"),
        lambda: seen.save_set(store.candidate_set(name)),
        lambda: seen.put("audit", name, {}),
        lambda: seen.quarantine([]),
        lambda: seen.add(store.traces()),
    ):
        with pytest.raises(Forbidden, match="a viewer may not edit candidates"):
            write()
    assert store.candidate_set(name).candidates[0] == first


def test_a_viewer_s_desk_says_why_nothing_was_written(tmp_path):
    store = curated(tmp_path / "store.db")
    desk = Desk(guarded(store, Role.VIEWER), store.set_names()[0], "eve")
    desk.decide(desk.look(), Decision.ACCEPT)

    assert "viewer" in desk.notice.detail
    assert store.candidate_set(desk.set_name).candidates[0].status is Status.PROPOSED


def test_a_curator_s_store_takes_edits_and_refuses_what_only_admins_may(tmp_path):
    store = curated(tmp_path / "store.db")
    name = store.set_names()[0]
    seen = guarded(store, Role.CURATOR)
    first = store.candidate_set(name).candidates[0]
    accepted = commands.accept(seen, Edit(name, first.id, first.version, "ann"))
    commands.undo(seen, name, "ann")
    assert accepted.status is Status.ACCEPTED

    store.release(name, "", "root")
    second = store.candidate_set(name).candidates[1]
    commands.reword(store, Edit(name, second.id, second.version, "root"), "I should look.")
    before = store.candidate_set(name)
    edit = Edit(name, first.id, before.candidates[0].version, "ann")
    for write, said in (
        (lambda: commands.decide_many(seen, name, [edit], Status.REJECTED), "many candidates"),
        (lambda: seen.release(name, "", "ann"), "release or restore"),
        (lambda: versions.restore_release(seen, name, 1, "ann"), "release or restore"),
        (lambda: versions.branch(seen, name, "1", "other", "ann"), "release or restore"),
        (lambda: seen.save_set(before), "start or cancel runs"),
    ):
        with pytest.raises(Forbidden, match=f"a curator may not .*{said}.*; that takes the role"):
            write()
    assert store.candidate_set(name) == before
    assert store.set_names() == [name]
    assert store.check() == []


def test_an_admin_has_the_store_itself(tmp_path):
    store = curated(tmp_path / "store.db")

    assert guarded(store, Role.ADMIN) is store


@given(st.text())
def test_any_typed_name_becomes_one_short_line(name):
    shown = local_actor(name).name

    assert shown and len(shown) <= 60
    assert shown.isprintable()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"no \[auth\]"),
        ("[auth", "no TOML"),
        ("[auth]\nredirect_uri = 1", "has no redirect_uri"),
    ],
)
def test_a_login_file_that_cannot_be_used_is_one_line(tmp_path, text, said):
    path = tmp_path / "auth.toml"
    path.write_text(text)
    with pytest.raises(ForethoughtError, match=said):
        read_access(path)


PROVIDER = """
[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "a"
client_id = "b"
client_secret = "c"
server_metadata_url = "https://id.example.org/.well-known/openid-configuration"
"""


def test_roles_are_read_and_misspelt_ones_refused(tmp_path):
    path = tmp_path / "auth.toml"
    path.write_text(PROVIDER + '[roles]\n"Ann@example.org" = "admin"\n"@example.org" = "viewer"\n')
    assert read_access(path).roles == {
        "ann@example.org": Role.ADMIN,
        "@example.org": Role.VIEWER,
    }

    for wrong, said in (('"ann" = "admin"', "no email"), ('"@a.org" = "boss"', "roles are")):
        path.write_text(f"{PROVIDER}[roles]\n{wrong}\n")
        with pytest.raises(ForethoughtError, match=said):
            read_access(path)
    path.write_text(PROVIDER)
    with pytest.raises(ForethoughtError, match=r"no \[roles\]"):
        read_access(path)
