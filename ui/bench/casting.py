"""An agent for each mode of a bench: the same model, tools and limits, another way to think. Plays nothing."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...data.candidates import Candidate
from ...data.errors import NothingToDo
from ...scorer.agent.episode import Agent
from ...scorer.agent.prompt import numbers
from ...scorer.agent.session import Session
from ...scorer.agent.thinking import Freedom, Generating, Library, Mode, take, thinker_of
from ...scorer.agent.tools import guarded
from ...scorer.calibrate import batch_means
from ...scorer.compiled_set import CompiledSet
from ...scorer.model import LanguageModel
from ...scorer.plain import totals
from ...scorer.premise import PREMISE
from .arena import Arena
from .dispatch import QuestionRouting
from .plan import BenchPlan, Calibration, mode_of, size_of
from .routes import NO_ROUTES, Routes

if TYPE_CHECKING:
    from ...scorer.visual_budget import VisualBudget

TOOL_SECONDS = 30.0
CHOOSING = (
    Mode.SELECT,
    Mode.INDEX,
    Mode.HYBRID,
)  # the modes that the set's texts may be listed for


def agents_of(
    model: LanguageModel,
    arena: Arena,
    candidates: Sequence[Candidate],
    plan: BenchPlan,
    start: Callable[[Agent], Session] = Agent.start,
    routes: Routes = NO_ROUTES,
) -> Mapping[str, Agent]:
    """By the labels of the plan's players, and of those that a router may send questions to. NothingToDo where scores or policies are to be calibrated by turns that the benchmark has not."""
    is_guided = arena.is_guided if plan.is_guided is None else plan.is_guided
    beginnings = tuple(tuple(model.encode(text)) for text in arena.beginnings)
    is_listed = arena.is_listed if plan.is_listed is None else plan.is_listed
    limits = replace(arena.limits, **plan.limits)
    freedom = Freedom(limits.thought_tokens, least_log_z=plan.least_log_z)
    tools = {kind: guarded(tool, TOOL_SECONDS) for kind, tool in arena.tools.items()}

    def agent(label: str) -> Agent:
        mode, own = mode_of(label), candidates[: size_of(label)]
        texts = [one.text for one in own]
        library = Library.of(model, texts, tau=plan.tau, numbers=numbers(own))
        listed = own if mode is Mode.INDEX or (is_listed and mode in CHOOSING) else ()
        found = Agent(
            model=model,
            thinker=thinker_of(mode, library, model, freedom),
            tools=tools,
            limits=limits,
            disabled=arena.disabled,
            dialogue=arena.dialogue(model, listed),
            beginnings=beginnings if is_guided else None,
            budget=_budget(plan),
        )
        if mode not in (Mode.SELECT, Mode.HYBRID):
            return found
        library = replace(library, offsets=_offsets(library, plan.calibration, arena, found, start))
        found = replace(found, thinker=thinker_of(mode, library, model, freedom))
        policy = policies.get(label)
        if policy is None:
            return found
        from .sending import Sample, sent  # only those who route import what routes

        sample = Sample(arena, start, plan.seed)
        return sent(found, library, policy, Generating(freedom.tokens), routes, sample)

    policies = {policy.label: policy for policy in plan.policies}
    arms = QuestionRouting.of(plan, routes.dispatcher, len(candidates)).arms
    labels = dict.fromkeys((*plan.players(len(candidates)), *arms))
    return {label: agent(label) for label in labels}


def _budget(plan: BenchPlan) -> "VisualBudget | None":
    if plan.visual_budget is None:
        return None
    from ...scorer.visual_budget import VisualBudget  # only those who look at less import it

    return VisualBudget.parse(plan.visual_budget)


def _offsets(
    library: Library,
    calibration: Calibration,
    arena: Arena,
    agent: Agent,
    start: Callable[[Agent], Session],
) -> np.ndarray | float:
    if calibration is Calibration.RAW:
        return 0.0
    if calibration is Calibration.PMI:
        return _premises(start(agent), library.compiled) / library.compiled.divisors(
            library.normalisation
        )
    if not arena.fitting:
        raise NothingToDo(
            f"{arena.name} has no turns to calibrate by batch with; take --calibration raw or pmi"
        )
    session = start(agent)
    return batch_means(np.array([_scores(session, text, library) for text in arena.fitting]))


def _premises(session: Session, compiled: CompiledSet) -> np.ndarray:
    """As `premise_sums`, wherever the model is."""
    session.rollback(0)
    session.append_text(session.model.encode(PREMISE))
    return totals(session.score(compiled.ids).log_probs)


def _scores(session: Session, history: str, library: Library) -> tuple[float, ...]:
    before = session.length
    session.append_text(session.model.encode(history))
    found = take(session, library, 0)[1].scores
    session.rollback(before)
    return found
