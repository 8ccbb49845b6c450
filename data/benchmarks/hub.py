"""A data set of the Hugging Face hub as files on this machine. Knows no benchmark; downloads only what is asked for."""

from collections.abc import Callable
from glob import escape
from typing import Any

from ..errors import BenchmarkUnavailable

PREFIX = "hub:"


def fetched(name: str, download: Callable[..., str] | None = None) -> str:
    """The place of hub:OWNER/NAME, or of the files in it that OWNER/NAME/PATTERN names, as a folder or glob.

    What was downloaded before is not downloaded again. BenchmarkUnavailable where the hub cannot be reached, or refuses.
    """
    owner, _, rest = name.removeprefix(PREFIX).partition("/")
    title, _, pattern = rest.partition("/")
    asked: dict[str, Any] = {"allow_patterns": [pattern]} if pattern else {}
    try:
        folder = (download or _download)(f"{owner}/{title}", repo_type="dataset", **asked)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise BenchmarkUnavailable(
            f"{PREFIX}{owner}/{title} cannot be downloaded ({reason}); download it where the hub can be reached and give its folder"
        ) from error
    return f"{escape(folder)}/{pattern}" if pattern else folder


def _download(repo: str, **asked: Any) -> str:
    from huggingface_hub import snapshot_download  # only those who download need it

    return snapshot_download(repo, **asked)
