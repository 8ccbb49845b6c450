"""LatentRouter as one that is trained, asked and kept in a file: `route` is all that whoever plays needs.

A router is one network or several that differ by their seed only, whose predictions are averaged. Arms may be withdrawn (leave
them out of what is available) and added (`with_arm`) without training anything again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from ....data.errors import ForethoughtError
from ..outcomes import InvalidRoutingTable, Outcomes
from .features import Asked, Encoded, Encoder, Scale, encoder_of
from .fitting import Lessons, Schedule, teach
from .frontier import choices, cost_range, frontier, nauc
from .network import LatentNetwork, Query, Shape
from .profiles import Pool, neighbourhoods
from .wording import Wording

FORMAT = "forethought-router-1"
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

        InvalidRoutingTable where a question has no arm.
        """
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
        """The arm for each question, of `available` arms (None: all), at `weight`, the price of the dearest arm in quality."""
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
        """One arm more, of what it reached on training questions: its qualities and costs by their ids, as many as there are."""
        if name in self.arms:
            raise InvalidRoutingTable(f"{name}: the router has this arm already")
        told = [id for id in self.ids if id in quality and id in cost]
        if not told:
            raise InvalidRoutingTable(
                f"{name}: nothing is known of it on the router's training questions, so it has no profile"
            )
        reached, paid = (
            np.array([told[id] if id in quality and id in cost else np.nan for id in self.ids])
            for told in (quality, cost)
        )
        profile = self.pool.profile(reached, paid)
        return replace(
            self, arms=(*self.arms, name), profiles=np.concatenate([self.profiles, profile[None]])
        )

    def save(self, path: Path) -> None:
        """Into one file of safetensors, whole or not at all."""
        arrays = {"profiles": self.profiles}
        arrays |= {f"pool.{name}": np.ascontiguousarray(getattr(self.pool, name)) for name in POOL}
        for name, part in self.encoder._asdict().items():
            if part is not None:
                arrays |= {f"{name}.{field}": one for field, one in part._asdict().items()}
        for number, network in enumerate(self.networks):
            for name, weight in network.state_dict().items():
                arrays[f"network.{number}.{name}"] = weight.numpy()
        told = {
            "format": FORMAT,
            "arms": self.arms,
            "ids": self.ids,
            "embedder": self.embedder,
            "shape": asdict(self.networks[0].shape),
            "networks": len(self.networks),
            "slices": self.pool.slices,
            "regions": self.pool.regions,
        }
        partial = path.with_name(f".{path.name}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            save_file(arrays, partial, {"router": json.dumps(told)})
            partial.replace(path)
        except (OSError, SafetensorError) as error:
            raise ForethoughtError(
                f"{path}: cannot be written ({error}); name another file"
            ) from error


def load_router(path: Path) -> LatentRouter:
    """What `save` wrote; ForethoughtError where it is something else."""
    try:
        with safe_open(path, "numpy") as file:
            told = json.loads((file.metadata() or {}).get("router", "{}"))
            arrays = {name: file.get_tensor(name) for name in file.keys()}
        if told.get("format") != FORMAT:
            raise ForethoughtError(
                f"{path}: no router of this program; train one with `forethought route --out`"
            )
        return _loaded(told, arrays)
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise ForethoughtError(f"{path}: cannot be read as a router ({error})") from error


def _loaded(told: dict[str, Any], arrays: dict[str, np.ndarray]) -> LatentRouter:
    pool = Pool(
        arrays["pool.quality"],
        arrays["pool.cost"],
        arrays["pool.slice"],
        arrays["pool.region"],
        told["slices"],
        told["regions"],
    )
    scales = {
        name: Scale(arrays[f"{name}.centre"], arrays[f"{name}.spread"])
        for name in ("meaning", "worded", "image")
        if f"{name}.centre" in arrays
    }
    wording = Wording(arrays["wording.rarity"], arrays["wording.directions"])
    encoder = Encoder(scales["meaning"], wording, scales["worded"], scales.get("image"))
    shape = Shape(**told["shape"])
    networks = []
    for number in range(told["networks"]):
        network = _network(shape, encoder, arrays["profiles"])
        start = f"network.{number}."
        weights = {
            name.removeprefix(start): torch.from_numpy(one)
            for name, one in arrays.items()
            if name.startswith(start)
        }
        network.load_state_dict(weights)
        networks.append(network.eval())
    arms, ids = tuple(told["arms"]), tuple(told["ids"])
    return LatentRouter(
        arms, arrays["profiles"], tuple(networks), encoder, pool, ids, told["embedder"]
    )


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
