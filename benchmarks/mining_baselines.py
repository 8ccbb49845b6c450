"""What mining is compared with: other ways to get a few texts out of *mine* thoughts, and our own recipe without its mask.

Knows thoughts, vectors and texts; knows no language model, no score and no table. Every way is deterministic.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from forethought.data.candidates import CandidateSet
from forethought.miner import mine as recipe
from forethought.miner.mask import Mask
from forethought.miner.mask_rules import MaskRules
from forethought.miner.slots import MaskedThought
from forethought.miner.thoughts import Instance
from forethought.ui.auditing import Corpus

SEED = 0


def medoids(texts: Sequence[str], vectors: np.ndarray, size: int) -> list[str]:
    """The texts nearest the centres of k-means into `size` clusters, of the largest cluster first; `vectors` (texts, d)."""
    fitted = KMeans(min(size, len(set(texts))), n_init=10, random_state=SEED).fit(vectors)
    own = fitted.labels_[:, None] == np.arange(len(fitted.cluster_centers_))  # (texts, clusters)
    distance = np.where(own, fitted.transform(vectors).round(6), np.inf)
    ordered = [cluster for cluster, _ in Counter(fitted.labels_.tolist()).most_common()]
    return [texts[int(distance[:, cluster].argmin())] for cluster in ordered]


def topic_documents(
    texts: Sequence[str], vectors: np.ndarray, seed: int | None = SEED
) -> list[str]:
    """One representative document of each topic of BERTopic's default recipe, of the largest topic first.

    `seed` None leaves UMAP unseeded, and so in parallel, as the default is. ImportError where BERTopic is not installed.
    """
    from bertopic import BERTopic
    from umap import UMAP

    # UMAP's settings are BERTopic's own; only the seed is ours
    reduce = UMAP(
        n_neighbors=15,
        n_components=5,
        min_dist=0.0,
        metric="cosine",
        low_memory=False,
        random_state=seed,
    )
    topics = BERTopic(umap_model=reduce)
    topics.fit_transform(list(texts), vectors)
    documents: dict[int, list[str]] = topics.get_representative_docs()
    return list(dict.fromkeys(documents[topic][0] for topic in sorted(documents) if topic >= 0))


class Unmasked(Mask):
    """A mask that takes nothing: every thought is whole."""

    @classmethod
    def fit(cls, thoughts: Any, rules: MaskRules | None = None) -> "Unmasked":
        return cls({}, rules)

    def apply(self, text: str, instance: Instance | str = "") -> MaskedThought:
        return MaskedThought(text, num_kept=1, num_words=1, original=text)


@contextmanager
def without_mask() -> Iterator[None]:
    """Within it the recipe mines as always, but for a mask that takes nothing; the lint of phrases stays."""
    recipe.Mask = Unmasked
    try:
        yield
    finally:
        recipe.Mask = Mask


def supported(name: str, texts: Sequence[str], corpus: Corpus) -> CandidateSet:
    """`texts` as a set, with support and expected actions as the one assignment rule finds them on *mine* thoughts.

    The same for every way, so that action agreement and reuse compare.
    """
    candidates = recipe.supported(
        list(dict.fromkeys(texts)), corpus.thoughts, corpus.assigner, recipe.MinerSettings()
    )
    return CandidateSet(name, candidates)
