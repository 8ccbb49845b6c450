"""LatentRouter as one that is trained, asked and kept in a file: `route` is all that whoever plays needs.

A router is one network or several that differ by their seed only, whose predictions are averaged. Arms may be withdrawn (leave
them out of what is available) and added (`with_arm`) without training anything again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from ..outcomes import InvalidRoutingTable, Outcomes, require_cells
from .features import Asked, Encoded, Encoder, Scale, encoder_of
from .fitting import Lessons, Schedule, teach
from .frontier import choices, cost_range, frontier, nauc
from .network import LatentNetwork, Query, Shape
from .profiles import Pool, neighbourhoods
from .router_file import RouterFile, read_router_file, unreadable, write_router_file
from .wording import Wording

BATCH = 4096
POOL = ("quality", "cost", "slice", "region")


class Example(NamedTuple):
    """Questions with what is known of them and what the arms did."""

    asked: Asked
    outcomes: Outcomes


@dataclass(frozen=True)
class LatentRouter:
    """`profiles` (A, F) and normalised `costs` (A,) of `arms`; `pool` makes profiles of arms that come later.

    `ids` are the training questions; `embedder` names what made the vectors of text, which no other may be mixed with.
    """

    arms: tuple[str, ...]
    profiles: np.ndarray
    networks: tuple[LatentNetwork, ...]
    encoder: Encoder
    pool: Pool
    ids: tuple[str, ...]
    embedder: str

    @property
    def costs(self) -> np.ndarray:
        return self.profiles[:, -1].astype(float)

    def predict(self, asked: Asked, available: np.ndarray) -> np.ndarray:
        """(Q, A): the quality each arm would reach, NaN where it is not `available` (Q, A) bool.

        InvalidRoutingTable where a question has no arm, and for questions that are not whole.
        """
        if available.shape != (len(asked.texts), len(self.arms)):
            raise InvalidRoutingTable(
                f"{len(asked.texts)} questions and {len(self.arms)} arms, where {available.shape} tells which are available"
            )
        if not len(asked.texts) and not len(asked.vectors):
            return np.empty((0, len(self.arms)))
        return self.predict_encoded(self.encoder(asked), available)

    def predict_encoded(self, encoded: Encoded, available: np.ndarray) -> np.ndarray:
        """`predict` for questions that `encoder` has seen to."""
        if not available.any(axis=1).all():
            raise InvalidRoutingTable("no arm is available for a question; make one available")
        whole = _query(encoded)
        profiles = torch.from_numpy(self.profiles)
        found = []
        with torch.no_grad():
            for places in torch.arange(len(available)).split(BATCH):
                mask = torch.from_numpy(available)[places]
                each = [one(whole.rows(places), profiles, mask).quality for one in self.networks]
                found.append(torch.stack(each).mean(dim=0).double().numpy())
        return np.where(available, np.concatenate(found), np.nan)

    def route(
        self,
        asked: Asked,
        weight: float = 0.0,
        available: Sequence[str] | None = None,
    ) -> list[str]:
        """The arm for each question, of `available` arms (None: all), at `weight`, the price of the dearest arm in quality.

        InvalidRoutingTable for arms that it has not, for a weight below 0 or without end, and for questions that are not whole.
        """
        if not (math.isfinite(weight) and weight >= 0):
            raise InvalidRoutingTable(f"weight {weight}: a price is a number from 0 on")
        names = self.arms if available is None else tuple(available)
        if unknown := [name for name in names if name not in self.arms]:
            raise InvalidRoutingTable(
                f"{', '.join(unknown)}: no arm of this router, which has {', '.join(self.arms)}"
            )
        mask = np.tile([arm in names for arm in self.arms], (len(asked.texts), 1))
        predicted = self.predict(asked, mask)
        return [self.arms[arm] for arm in choices(predicted, mask, self.costs, weight)]

    def with_arms(self, arms: Sequence[str]) -> "LatentRouter":
        """These of its arms in this order."""
        places = [self.arms.index(arm) for arm in arms]
        return replace(self, arms=tuple(arms), profiles=self.profiles[places])

    def with_arm(
        self, name: str, quality: Mapping[str, float], cost: Mapping[str, float]
    ) -> "LatentRouter":
        """One arm more, of what it reached on training questions: its qualities and costs by their ids, as many as there are.

        NaN is one that is missing, as in a table; InvalidRoutingTable for what no table may hold, either.
        """
        if name in self.arms or not name.strip():
            raise InvalidRoutingTable(
                f"{name!r}: the router has this arm already, or it is no name; give it its own"
            )
        reached, paid = _numbers(self.ids, quality, name), _numbers(self.ids, cost, name)
        missing = np.isnan(reached) | np.isnan(paid)
        reached[missing] = paid[missing] = np.nan
        require_cells(reached[:, None], paid[:, None], self.ids, (name,), "a new arm")
        if missing.all():
            raise InvalidRoutingTable(
                f"{name}: nothing is known of it on the router's training questions, so it has no profile"
            )
        with np.errstate(over="ignore"):
            profile = self.pool.profile(reached, paid)
        if not np.isfinite(profile).all():
            raise InvalidRoutingTable(
                f"{name}: costs {np.nanmean(paid):g}, out of all proportion to the router's other arms; tell it in their unit"
            )
        return replace(
            self, arms=(*self.arms, name), profiles=np.concatenate([self.profiles, profile[None]])
        )

    def save(self, path: Path) -> None:
        """Into one file, whole or not at all."""
        arrays = {"profiles": self.profiles}
        arrays |= {f"pool.{name}": np.ascontiguousarray(getattr(self.pool, name)) for name in POOL}
        for name, part in self.encoder._asdict().items():
            if part is not None:
                arrays |= {f"{name}.{field}": one for field, one in part._asdict().items()}
        for number, network in enumerate(self.networks):
            for name, weight in network.state_dict().items():
                arrays[f"network.{number}.{name}"] = weight.numpy()
        facts = {
            "arms": self.arms,
            "ids": self.ids,
            "embedder": self.embedder,
            "shape": asdict(self.networks[0].shape),
            "networks": len(self.networks),
            "slices": self.pool.slices,
            "regions": self.pool.regions,
        }
        write_router_file(path, facts, arrays)


def load_router(path: Path) -> LatentRouter:
    """What `save` wrote; ForethoughtError where it is something else."""
    found = read_router_file(path)
    try:
        return _loaded(found)
    except (RuntimeError, AssertionError) as error:  # weights of other sizes than the shape's
        raise unreadable(path, error) from error


def _numbers(ids: Sequence[str], told: Mapping[str, float], name: str) -> np.ndarray:
    """(ids,): NaN for what is not told."""
    try:
        return np.array([float(told.get(id, np.nan)) for id in ids])
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidRoutingTable(f"{name}: what is told of it is no number ({error})") from error


def _loaded(found: RouterFile) -> LatentRouter:
    facts, arrays = found
    quality, cost, slice, region = (arrays[f"pool.{name}"] for name in POOL)
    pool = Pool(quality, cost, slice, region, facts["slices"], facts["regions"])
    scales = {
        name: Scale(arrays[f"{name}.centre"], arrays[f"{name}.spread"])
        for name in ("meaning", "worded", "image")
        if f"{name}.centre" in arrays
    }
    wording = Wording(arrays["wording.rarity"], arrays["wording.directions"])
    encoder = Encoder(scales["meaning"], wording, scales["worded"], scales.get("image"))
    networks = [_loaded_network(number, found, encoder) for number in range(facts["networks"])]
    arms, ids = tuple(facts["arms"]), tuple(facts["ids"])
    return LatentRouter(
        arms, arrays["profiles"], tuple(networks), encoder, pool, ids, facts["embedder"]
    )


def _loaded_network(number: int, found: RouterFile, encoder: Encoder) -> LatentNetwork:
    """Made of the file's weights, so that a shape that they have not takes no memory."""
    start = f"network.{number}."
    weights = {
        name.removeprefix(start): torch.from_numpy(one)
        for name, one in found.arrays.items()
        if name.startswith(start)
    }
    with torch.device("meta"):
        network = _network(Shape(**found.facts["shape"]), encoder, found.arrays["profiles"])
    network.load_state_dict(weights, assign=True)
    return network.eval()


@dataclass(frozen=True)
class Settings:
    """How a router is trained: `seeds` networks, averaged; the first has the schedule's seed."""

    shape: Shape = Shape()
    schedule: Schedule = Schedule()
    seeds: int = 1


def train_router(
    train: Example, choose: Example, settings: Settings = Settings(), embedder: str = ""
) -> LatentRouter:
    """Taught on `train`, stopped by `choose`; both have the same arms."""
    first = settings.schedule.seed
    encoder = encoder_of(train.asked, first)
    encoded, seen = encoder(train.asked), encoder(choose.asked)
    pool = _pool(train, encoded, first)
    table, profiles = train.outcomes, pool.profiles()
    start = LatentRouter(table.arms, profiles, (), encoder, pool, table.ids, embedder)
    lessons = _lessons(encoded, table, torch.from_numpy(start.costs).float())
    networks = []
    for seed in range(first, first + settings.seeds):
        torch.manual_seed(seed)
        network = _network(settings.shape, encoder, profiles)
        schedule = replace(settings.schedule, seed=seed)
        teach(
            network,
            torch.from_numpy(profiles),
            lessons,
            schedule,
            lambda one: area(replace(start, networks=(one,)), seen, choose.outcomes),
        )
        networks.append(network)
    return replace(start, networks=tuple(networks))


def area(router: LatentRouter, encoded: Encoded, table: Outcomes) -> float:
    """The router's nAUC on these questions, which have its arms."""
    predicted = np.nan_to_num(router.predict_encoded(encoded, table.available))
    once = np.ones((1, len(table.ids)))
    found = frontier(predicted, table, router.costs, once)
    return float(nauc(found, cost_range(table, once))[0])


def _query(encoded: Encoded) -> Query:
    text = torch.from_numpy(encoded.text)
    if encoded.image is None or encoded.has_image is None:
        return Query(text)
    return Query(text, torch.from_numpy(encoded.image), torch.from_numpy(encoded.has_image))


def _lessons(encoded: Encoded, outcomes: Outcomes, costs: torch.Tensor) -> Lessons:
    quality = torch.from_numpy(np.nan_to_num(outcomes.quality)).float()
    return Lessons(_query(encoded), quality, torch.from_numpy(outcomes.available), costs)


def _network(shape: Shape, encoder: Encoder, profiles: np.ndarray) -> LatentNetwork:
    return LatentNetwork(shape, encoder.text_size, profiles.shape[1], encoder.image_size)


def _pool(train: Example, encoded: Encoded, seed: int) -> Pool:
    slices = {name: place for place, name in enumerate(sorted(set(train.outcomes.slices)))}
    regions = neighbourhoods(encoded.text, seed)
    return Pool(
        train.outcomes.quality,
        train.outcomes.cost,
        np.array([slices[name] for name in train.outcomes.slices]),
        regions.of(encoded.text),
        len(slices),
        len(regions.centres),
    )
