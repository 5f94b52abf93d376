"""``python -m bench [workload …]``: time, print ratios, save JSON and a plot."""

from __future__ import annotations

import argparse
import importlib
import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.measure import Result, Workload, best_laps, measure

WORKLOADS = (
    "small_op", "mlp", "optim", "gpt", "gelu", "imports", "chain", "checkpoint", "hessian",
    "per_sample", "anomaly", "scalar", "doctor_mlp", "doctor_gpt",
)  # fmt: skip
RESULTS = Path(__file__).parent / "results"


def load(name: str) -> Workload:
    workload: Workload = importlib.import_module(f"bench.workloads.{name}").WORKLOAD
    return workload


def in_words(seconds: float) -> str:
    for unit, scale in (("s ", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:8.2f} {unit}"
    return f"{seconds / 1e-9:8.2f} ns"


def show(result: Result) -> None:
    print(f"\n{result.name}: {result.what}")
    for peer, seconds in sorted(result.seconds.items(), key=lambda row: row[1]):
        ratio = result.ratio(peer)
        against = "" if ratio is None else f"   {ratio:6.2f} × {result.reference_of(peer)}"
        print(f"  {peer:<18}{in_words(seconds)}{against}{verdict(ratio, result.limits.get(peer))}")
    for peer, size in result.bytes.items():
        ratio = size / result.bytes[result.reference]
        limit = verdict(ratio, result.bytes_limits.get(peer))
        print(f"  {peer:<18}{size / 1e6:8.2f} MB   {ratio:6.2f} × {result.reference}{limit}")
    if result.missing:
        print(f"  not installed: {', '.join(result.missing)}")


def verdict(ratio: float | None, limit: float | None) -> str:
    if ratio is None or limit is None:
        return ""
    return f"   at most {limit:.2f}{'' if ratio <= limit else ': EXCEEDED'}"


def save(results: list[Result], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    payload: dict[str, Any] = {
        "schema": 1,
        "python": platform.python_version(),
        "versions": versions(),
        "results": [asdict(result) for result in results],
    }
    temporary = folder / "results.json.tmp"
    temporary.write_text(json.dumps(payload, indent=2) + "\n")
    temporary.replace(folder / "results.json")
    draw(results, folder / "results.svg")


def versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("whygrad", "numpy", "torch", "autograd", "mygrad", "jax", "micrograd"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def draw(results: list[Result], path: Path) -> None:
    """Bars of time relative to the reference, one panel per workload."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.6 * len(results)), layout="constrained")
    for panel, result in enumerate(results, 1):
        axes = figure.add_subplot(len(results), 1, panel)
        peers = sorted(result.seconds, key=lambda peer: -result.seconds[peer])
        ratios = [result.ratio(peer) or 0.0 for peer in peers]
        colours = ["#2a6f97" if peer == "whygrad" else "#adb5bd" for peer in peers]
        bars = axes.barh(peers, ratios, color=colours)
        axes.bar_label(bars, [f" {ratio:.2f}" for ratio in ratios], fontsize=8)
        axes.axvline(1.0, color="black", linewidth=0.8)
        axes.set_title(f"{result.name} (time relative to {result.reference})", fontsize=9)
        axes.tick_params(labelsize=8)
        axes.margins(x=0.12)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*", help=f"any of {', '.join(WORKLOADS)}")
    parser.add_argument("--one", nargs=2, metavar=("WORKLOAD", "PEER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        workload, peer = options.one
        print(json.dumps(best_laps(load(workload), peer)))
        return
    unknown = set(options.workloads) - set(WORKLOADS)
    if unknown:
        parser.error(f"no workload {', '.join(unknown)}; there are {', '.join(WORKLOADS)}")
    results = []
    for name in options.workloads or WORKLOADS:
        result = measure(name, load(name))
        show(result)
        results.append(result)
    save(results, RESULTS)
    print(f"\nsaved {RESULTS.name}/results.json and results.svg")


if __name__ == "__main__":
    main()
