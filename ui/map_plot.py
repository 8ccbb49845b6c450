"""Thoughts as dots of a plane in Plotly, which knows lasso and box and draws thousands by the graphics card.

Plotly reads some markup in names and tooltips: every text is escaped, so that it shows letter by letter.
"""

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import NamedTuple

import plotly.graph_objects as go

from .plots import PALETTE

HOVER_WIDTH = 60  # characters a line


class Dot(NamedTuple):
    """A thought on the map, what it is known by, and what it is coloured by."""

    key: str
    x: float
    y: float
    label: str
    text: str


def map_plot(dots: Sequence[Dot], colours: Sequence[str]) -> go.Figure:
    """Thoughts on a plane, coloured by their labels, of which `colours` are all; a selection tells keys of dots."""
    figure = go.Figure()
    for label, colour in zip(colours, PALETTE, strict=False):
        alike = [dot for dot in dots if dot.label == label]
        figure.add_scattergl(
            x=[dot.x for dot in alike],
            y=[dot.y for dot in alike],
            name=_literal(label),
            mode="markers",
            marker={"color": colour, "size": 6, "opacity": 0.75},
            unselected={"marker": {"opacity": 0.12}},
            customdata=[[dot.key] for dot in alike],
            text=["<br>".join(map(_literal, wrap(dot.text, HOVER_WIDTH))) for dot in alike],
            hovertemplate="%{text}<extra></extra>",
        )
    hidden = {"visible": False, "range": [-1.1, 1.1]}
    return figure.update_layout(
        height=560,
        dragmode="lasso",
        margin={"l": 0, "r": 0, "t": 30, "b": 0},  # above: the tools
        xaxis=hidden,
        yaxis=hidden,
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0, "itemsizing": "constant"},
        hoverlabel={"align": "left"},
    )


def _literal(text: str) -> str:
    """Without markup; quotes stay, which Plotly would show as entities."""
    return escape(text, quote=False)
