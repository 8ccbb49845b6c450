"""What policies of a bench are given beside the plan: a fitted probe, a router, and who turns may be handed over to. Knows no policy."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from ...data.errors import ForethoughtError
from ...scorer.agent.session import Session
from .dispatch import Dispatcher


@dataclass(frozen=True)
class Routes:
    """`probe` is a probe's file; `second` opens a session of the model that `name` names; `dispatcher` sends whole questions."""

    probe: Path | None = None
    second: Callable[[], Session] | None = None
    name: str | None = None
    dispatcher: Dispatcher | None = None

    def facts(self) -> dict[str, Any]:
        """What of it decides records. ForethoughtError for a probe that cannot be read."""
        found: dict[str, Any] = {}
        if self.name is not None:
            found["second"] = self.name
        if self.probe is not None:
            try:
                found["probe"] = sha256(self.probe.read_bytes()).hexdigest()
            except OSError as error:
                raise ForethoughtError(
                    f"{self.probe}: cannot be read ({error.strerror}); name a probe's file"
                ) from error
        return found


NO_ROUTES = Routes()
