"""The app's server, `python -m forethought.ui.app_server run app.py ...`: Streamlit, the screens' libraries loaded first.

Loading takes some seconds, which whoever opens the first page would wait for otherwise.
"""

import gc
import sys
from importlib import import_module
from pathlib import Path

from streamlit.web import cli

LATER = "play_screen"  # loads torch, which takes long again and nobody else needs


def load_screens() -> None:
    for screen in sorted(Path(__file__).parent.glob("*_screen.py")):
        if screen.stem != LATER:
            import_module(f"forethought.ui.{screen.stem}")


if __name__ == "__main__":
    load_screens()
    gc.freeze()  # Streamlit collects garbage after each key press; what is loaded once is none
    cli.main(sys.argv[1:], prog_name="streamlit")
