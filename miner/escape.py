"""The escape candidate: says that no other candidate fits, so that a model may think freely instead.

It stands last, outside any budget, expects no action, and is marked by its id in the set's manifest. Nothing is mined into it.
"""

from dataclasses import replace

from ..data.candidates import CandidateSet, written

ESCAPE = "None of my usual next steps fits here, so I should think freely about what is missing and what to do."
MANIFEST_KEY = "escape"


def with_escape(candidate_set: CandidateSet, text: str = ESCAPE) -> CandidateSet:
    """`candidate_set` with the escape candidate `text` as its last, and its id in the manifest."""
    escape = written(text)
    others = tuple(c for c in candidate_set.candidates if c.id != escape.id)
    return replace(
        candidate_set,
        candidates=(*others, escape),
        manifest={**candidate_set.manifest, MANIFEST_KEY: escape.id},
    )


def escape_id(candidate_set: CandidateSet) -> str | None:
    """The id of the set's escape candidate; None where it has none, or no longer."""
    id = candidate_set.manifest.get(MANIFEST_KEY)
    return str(id) if any(c.id == id for c in candidate_set.active) else None
