"""The mistakes a user can cause. Each carries one sentence: what, where, what to do.

The CLI turns them into one line and an exit code; the app into a message. Nothing else catches them.
"""


class ForethoughtError(Exception):
    """A mistake that its message explains in full; shown without a traceback."""

    exit_code = 2


class UnknownTraceFormat(ForethoughtError):
    """No reader recognises a file."""


class InvalidMapping(ForethoughtError):
    """A file that says where things lie in a user's own format, and does not say it so that it can be used."""


class InvalidOutcomes(ForethoughtError):
    """A file of outcomes in which no run and no outcome can be told."""


class NotFound(ForethoughtError):
    """A named trace, set, model or file does not exist."""


class InvalidCandidate(ForethoughtError):
    """A candidate text that no scorer or trainer could take."""


class InvalidLibrary(ForethoughtError):
    """A candidate-set file that cannot be read as one."""


class InvalidRules(ForethoughtError):
    """A file of mask rules that cannot be used: which rule, and what is wrong with it."""


class InvalidVectors(ForethoughtError):
    """A file of vectors that does not fit its texts, or lacks some."""


class ModelUnavailable(ForethoughtError):
    """A model that cannot be loaded, or one whose bytes are not the pinned ones."""


class OutOfMemory(ModelUnavailable):
    """The model's device has no room for a forward; what was computed before it is kept."""


class ContextTooLong(ForethoughtError):
    """More tokens than the model has positions for; nothing was computed."""


class PictureMismatch(ForethoughtError):
    """Pictures that the tokens have no place for, or the model no eyes."""


class ExecutorError(ForethoughtError):
    """What works blocks out elsewhere is not installed, or lost a process."""


class EngineError(ForethoughtError):
    """A remote engine that cannot be asked, serves another model, or answers with something that is no score."""


class ToolUnavailable(ForethoughtError):
    """What a tool of the agent needs is missing or broken: a library, a key, a file of passages or of recorded results."""


class StoreError(ForethoughtError):
    """A store that cannot be opened, or is newer than this program."""


class Conflict(ForethoughtError):
    """An edit made from an older version than the stored one; nothing was written."""


class NothingToDo(ForethoughtError):
    """A command whose input is empty, with what to do about it."""


class BenchmarkUnavailable(ForethoughtError):
    """A benchmark of no known name, or whose questions cannot be found or read: where it was looked for, and what to do."""


class BrokenPicture(ForethoughtError):
    """A question's picture that is not there, or is none; told when it is opened."""
