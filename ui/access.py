"""Who looks at the app and what they may do: roles, the file that gives them out, and where the app may listen.

Knows no Streamlit: claims about a person are handed in. What a person may not do is refused here and by the store that
they are handed, not by a hidden button.
"""

import getpass
import ipaddress
import socket
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlmodel import Session

from ..data.database import Database
from ..data.errors import ForethoughtError, NotFound
from ..data.store import Store
from ..data.tables import CommandRow, CommandType

NAME_CHARACTERS = 60
AUTH_KEYS = ("redirect_uri", "cookie_secret")
PROVIDER_KEYS = ("client_id", "client_secret", "server_metadata_url")


class Forbidden(ForethoughtError):
    """A command that this person's role does not hold; nothing was done."""


class Right(StrEnum):
    """What a command asks of whoever gives it."""

    EDIT = "edit candidates"
    BULK = "edit many candidates at once"
    RELEASE = "release or restore a set"
    JOBS = "start or cancel runs"


class Role(StrEnum):
    VIEWER = "viewer"
    CURATOR = "curator"
    ADMIN = "admin"


RIGHTS: Mapping[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset(),
    Role.CURATOR: frozenset({Right.EDIT}),
    Role.ADMIN: frozenset(Right),
}

NEEDS: Mapping[CommandType, Right] = {  # all others are edits
    CommandType.DECIDE_MANY: Right.BULK,
    CommandType.RELEASE: Right.RELEASE,
    CommandType.RESTORE_RELEASE: Right.RELEASE,
    CommandType.BRANCH: Right.RELEASE,
    CommandType.SAVE_SET: Right.JOBS,
}


@dataclass(frozen=True)
class Actor:
    """A person: the name that goes into every revision, and the role that says what they may do."""

    name: str
    role: Role = Role.ADMIN

    def may(self, right: Right) -> bool:
        return right in RIGHTS[self.role]

    def require(self, right: Right) -> None:
        """Forbidden, in one line, unless the role holds the right."""
        if not self.may(right):
            holders = " or ".join(role for role in Role if right in RIGHTS[role])
            raise Forbidden(f"a {self.role} may not {right}; that takes the role {holders}")


def local_actor(name: str = "") -> Actor:
    """Whoever reaches an app without a login: under the name they typed, else the system's; may do everything."""
    typed = "".join(c for c in name if c.isprintable()).strip()[:NAME_CHARACTERS]
    return Actor(typed or _user_name())


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user, as in some containers
        return "curator"


@dataclass(frozen=True)
class Access:
    """Who gets in by login: `roles` by email address, or by a domain as `@example.org`, in lower case."""

    roles: Mapping[str, Role]

    def actor(self, claims: Mapping[str, Any]) -> Actor:
        """The person that a provider's claims describe; Forbidden for one whom the roles do not name."""
        email = claims.get("email")
        if not isinstance(email, str) or "@" not in email:
            raise Forbidden("the login told no email address; ask for the scope `email`")
        if claims.get("email_verified") is False:
            raise Forbidden("the login's email address is not verified; verify it at the provider")
        address = email.strip().casefold()
        domain = address[address.rindex("@") :]
        role = self.roles.get(address) or self.roles.get(domain)
        if role is None:
            raise Forbidden(f"{address} has no role here; ask whoever runs this app for one")
        return Actor(address, role)


def read_access(path: str | Path) -> Access:
    """The roles of a secrets file (TOML) with [auth], which Streamlit reads, and [roles]: email or "@domain" = role."""
    content = _load(Path(path))
    _check_provider(content.get("auth"), path)
    roles = content.get("roles")
    if not isinstance(roles, dict) or not roles:
        raise ForethoughtError(f'{path}: no [roles]; add one such as "ann@example.org" = "curator"')
    return Access({_address(key, path): _role(key, value, path) for key, value in roles.items()})


def require_login_ready() -> None:
    """ForethoughtError where the library that Streamlit logs in with is missing."""
    if find_spec("authlib") is None:
        raise ForethoughtError(
            "--auth needs Authlib; install it with `pip install forethought[login]`"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`; a name counts if all of its addresses do."""
    try:
        found = {entry[4][0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError) as error:
        raise ForethoughtError(f"--host {host}: no address of this machine ({error})") from error
    return all(ipaddress.ip_address(str(one).partition("%")[0]).is_loopback for one in found)


def require_guarded(host: str, auth: Path | None, *, without_login: bool) -> None:
    """Forbidden for an address that others reach, unless they log in or it was said that they need not."""
    if auth is None and not without_login and not is_loopback(host):
        raise Forbidden(
            f"--host {host}: anyone who reaches this address can change the store; "
            "pass --auth FILE for a login, or --no-login if that is wanted"
        )


class GuardedDatabase(Database):
    """Another database's connections for one role: what its commands may not be is not written, whoever gives them."""

    def __init__(self, database: Database, role: Role) -> None:
        vars(self).update(vars(database))
        self._actor = Actor("", role)

    @contextmanager
    def writing(self) -> Iterator[Session]:
        self._actor.require(Right.EDIT)
        with super().writing() as session:
            event.listen(session, "before_flush", self._check)
            yield session

    def _check(self, session: Session, context: object, instances: object) -> None:
        for row in session.new:
            if isinstance(row, CommandRow):
                self._actor.require(NEEDS.get(CommandType(row.type), Right.EDIT))


def guarded(store: Store, role: Role) -> Store:
    """The store as a role may use it; the store itself for those who may do everything."""
    return store if RIGHTS[role] == set(Right) else Store(GuardedDatabase(store.database, role))


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"no login file {path}; --auth names a TOML file") from error
    except OSError as error:
        raise ForethoughtError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:  # broken TOML or UTF-8
        raise ForethoughtError(f"{path}: no TOML file ({error})") from error


def _check_provider(auth: Any, path: str | Path) -> None:
    """One provider in [auth] itself; its keys are Streamlit's."""
    if not isinstance(auth, dict):
        raise ForethoughtError(f"{path}: no [auth] with {', '.join(AUTH_KEYS + PROVIDER_KEYS)}")
    for key in AUTH_KEYS + PROVIDER_KEYS:
        if not isinstance(auth.get(key), str) or not auth[key]:
            raise ForethoughtError(f"{path}: [auth] has no {key}")


def _address(key: str, path: str | Path) -> str:
    if "@" not in key:
        raise ForethoughtError(f"{path}: [roles] {key!r} is no email address and no @domain")
    return key.strip().casefold()


def _role(key: str, value: Any, path: str | Path) -> Role:
    if value not in list(Role):
        raise ForethoughtError(f"{path}: [roles] {key!r} is {value!r}; roles are {', '.join(Role)}")
    return Role(value)
