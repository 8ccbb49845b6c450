"""Real bench processes, one after the other: `python bench_process.py MODEL`, then a line `STORE OUT LIMIT` for each on standard input.

Answers with the process's id, and with its exit status when it has ended. Forked, so that what takes long to import is imported once.
"""

import os
import sys
import traceback
from pathlib import Path

from forethought.data.library import builtin
from forethought.data.store import Store
from forethought.scorer.agent.thinking import Mode
from forethought.scorer.model import load_model
from forethought.ui.bench.arenas import arenas_of
from forethought.ui.bench.plan import BenchPlan, Place
from forethought.ui.bench.runs import Bench

LIMITS = {"turns": 2, "thought_tokens": 8, "action_tokens": 12, "observation_tokens": 40}
PLAN = BenchPlan(
    (Place("hotpotqa-replay"),),
    (Mode.SELECT, Mode.THINK),
    limits=LIMITS,
)


def main(folder: str) -> None:
    model = load_model(folder)
    for line in sys.stdin:
        store, out, limit = line.split()
        child = os.fork()
        if not child:
            run(model, store, out, int(limit))
        print(child, flush=True)
        print(os.waitpid(child, 0)[1], flush=True)


def run(model, store: str, out: str, limit: int) -> None:
    plan = BenchPlan(**{**vars(PLAN), "limit": limit})
    try:
        opened, ssr = Store.open(store), builtin("ssr")
        Bench(opened, ssr, model, plan, arenas_of(opened, ssr, plan), Path(out)).run()
    except BaseException:  # noqa: BLE001 - told to whoever waits
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
