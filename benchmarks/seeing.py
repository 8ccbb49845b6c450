"""A whole bench over questions with real pictures, by Qwen3-VL of few random weights: it proves the path, and its answers are noise.

    python benchmarks/seeing.py infoseek=FOLDER        # a benchmark of the table, and where its questions and pictures lie

Prints what `forethought bench` prints. Images are cut by the model's own processor, looked at by its tower and kept over the turns.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

from tiny_folders import save_chatting_folder  # noqa: E402

from forethought.data.store import Store  # noqa: E402
from forethought.ui.cli import app  # noqa: E402


def main(place: str) -> None:
    with TemporaryDirectory() as folder:
        model, store = Path(folder) / "tiny-qwen3-vl", Path(folder) / "forethought.db"
        model.mkdir()
        save_chatting_folder(model)
        Store.open(store)
        print("Random weights: the answers are noise, and so are the shares.")
        options = ["--limit=0", "--thought-tokens=32", "--action-tokens=32", f"--out={folder}/out"]
        app(
            [
                "bench",
                "ssr",
                f"--store={store}",
                f"--model={model}",
                f"--benchmark={place}",
                *options,
            ]
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
