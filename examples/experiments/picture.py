"""Curves as a picture, for those who have matplotlib: pip install 'whygrad[plot]'."""


def draw(path, curves, *, xlabel, ylabel, title, log=""):
    """Write lines to ``path``: ``curves`` has y values, or pairs of x and y, by label.

    ``log`` names the axes with powers of ten: ``"y"``, ``"x"`` or ``"xy"``.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print(f"(no {path}: matplotlib is not installed)")
        return
    figure = Figure(figsize=(6.5, 4), layout="constrained")
    axes = figure.add_subplot()
    for label, curve in curves.items():
        axes.plot(*(curve if isinstance(curve, tuple) else (curve,)), ".-", label=label)
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    axes.set_xscale("log" if "x" in log else "linear")
    axes.set_yscale("log" if "y" in log else "linear")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)
    print(f"drawn in {path}")
