"""Utility routing for a user's table: questions embedded, a router trained and compared, kept in a file. Prints nothing."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..data.errors import ForethoughtError
from ..miner.embed import Embedder
from ..scorer.routing.outcome_files import files_of, read_outcomes
from ..scorer.routing.outcomes import Outcomes
from ..scorer.routing.utility.contest import contest
from ..scorer.routing.utility.features import Asked
from ..scorer.routing.utility.latent_router import Example, Settings
from ..scorer.routing.utility.router_file import require_plain

Json = dict[str, Any]


@dataclass(frozen=True)
class RoutingPlan:
    """`arms` to route between (none: all of the table's); networks of `seeds` seeds from `seed` on are averaged."""

    tables: tuple[Path, ...]
    arms: tuple[str, ...] = ()
    seeds: int = 3
    seed: int = 0


def route_table(
    plan: RoutingPlan, text: Embedder, pictures: Embedder | None = None, out: Path | None = None
) -> Json:
    """The report, JSON; the router is kept in `out`.

    InvalidRoutingTable for a table that cannot be used, ForethoughtError for an `out` that would take the place of what is no file,
    or of a table.
    """
    if out is not None:
        require_plain(out)
        require_other(out, [file for path in plan.tables for file in files_of(path)])
    table = read_outcomes(plan.tables)
    if plan.arms:
        table = table.between(plan.arms)
    settings = Settings(seeds=plan.seeds)
    settings = replace(settings, schedule=replace(settings.schedule, seed=plan.seed))
    found = contest(Example(asked(table, text, pictures), table), settings, text.name, plan.seed)
    if out is not None:
        found.router.save(out)
    return {
        "tables": [str(path) for path in plan.tables],
        "left_out": table.left_out,
        "columns_left_out": list(table.columns_left_out),
        "records_cut_off": table.cut_off,
        "embedder": text.name,
        "settings": asdict(settings),
        **found.report,
    }


def require_other(out: Path, inputs: Sequence[Path]) -> None:
    """ForethoughtError where `out` is one of the files that are read, under whatever name."""
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise ForethoughtError(
                f"cannot write {out}: {path} is read, and would be lost; name another file"
            )


def asked(table: Outcomes, text: Embedder, pictures: Embedder | None = None) -> Asked:
    """What is known of a table's questions; `pictures` embeds the names of their pictures, None looks at none."""
    vectors = text.embed(table.questions)
    has = np.array([image is not None for image in table.images])
    if pictures is None or not has.any():
        return Asked(table.questions, vectors)
    seen = pictures.embed([image for image in table.images if image is not None])
    image = np.zeros((len(has), seen.shape[1]), np.float32)
    image[has] = seen
    return Asked(table.questions, vectors, image, has)
