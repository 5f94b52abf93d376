"""An explanation as plain data, for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from whygrad.why.answer import place
from whygrad.why.contributions import Contribution, norm_of
from whygrad.why.rendering.figures import json_count, json_number

if TYPE_CHECKING:
    from whygrad.why.explanation import Explanation
    from whygrad.why.paths import Path, Paths

__all__ = ["SCHEMA", "record_of"]

SCHEMA = "whygrad.explanation/1"
_ENDS = 100  # factors at either end of a long path


def record_of(explanation: Explanation) -> dict[str, Any]:
    """What ``Explanation.to_dict`` returns."""
    paths = explanation.paths
    return {
        "schema": SCHEMA,
        "engine": explanation.flow.engine,
        "y": explanation.root.name,
        "wrt": explanation.target.name,
        "index": None if explanation.index is None else list(explanation.index),
        "gradient": _summary(explanation.gradient, explanation.index),
        "total": _summary(explanation.total, explanation.index),
        "residual": json_number(explanation.residual),
        "contributions": [_contribution(each) for each in explanation.contributions],
        "paths": None if paths is None else _paths(paths),
        "notes": list(explanation.notes),
    }


def _summary(gradient: Any, index: tuple[int, ...] | None) -> dict[str, Any]:
    array = np.asarray(gradient)
    summary = {"shape": list(array.shape), "norm": json_number(norm_of(array))}
    if array.size == 1:
        summary["value"] = json_number(array.item())
    if index is not None:
        summary["element"] = json_number(array[index].item())
    return summary


def _contribution(contribution: Contribution) -> dict[str, Any]:
    terms = contribution.terms
    return {
        "through": contribution.name,
        "op": contribution.op,
        "argument": contribution.argument,
        "where": place(contribution.where),
        **_summary(contribution.value, None),
        "share": json_number(contribution.share),
        "cosine": json_number(contribution.cosine),
        "summed_axes": list(contribution.summed),
        "summed_from_shape": list(contribution.stretched),
        "paths": None if contribution.paths is None else json_count(contribution.paths),
        "element": json_number(contribution.element),
        "terms": None
        if terms is None
        else {
            "count": terms.count,
            "of": terms.of,
            "largest": [
                {
                    "index": list(term.index),
                    "incoming": json_number(term.incoming),
                    "slope": json_number(term.slope),
                    "product": json_number(term.product),
                }
                for term in terms.largest
            ],
            "left_out_sum": json_number(terms.left_out_sum),
        },
    }


def _paths(paths: Paths) -> dict[str, Any]:
    return {
        "count": json_count(paths.count),
        "shown": [_path(path) for path in paths.shown],
        "left_out": json_count(paths.left_out),
        "left_out_sum": json_number(paths.left_out_sum),
    }


def _path(path: Path) -> dict[str, Any]:
    edges, left_out = path.edges, 0
    if len(edges) > 2 * _ENDS:
        edges, left_out = edges[:_ENDS] + edges[-_ENDS:], len(edges) - 2 * _ENDS
    return {
        "product": json_number(path.product),
        "factors": [
            {
                "of": edge.consumer.name,
                "wrt": edge.source.name,
                "op": edge.consumer.op,
                "slope": json_number(edge.slope),
                "where": place(edge.consumer.where),
            }
            for edge in edges
        ],
        "factors_left_out": left_out,  # from the middle
    }
