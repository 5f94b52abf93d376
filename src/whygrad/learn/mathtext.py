"""Mathematics for a terminal: a small part of LaTeX as Unicode, ``\\frac{∂L}{∂a}`` as ``∂L/∂a``.

What has no sign of its own stays readable as plain text; nothing is ever dropped.
"""

from __future__ import annotations

import re

__all__ = ["unicode_math"]

_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "eta": "η", "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "phi": "φ", "omega": "ω", "Delta": "Δ", "Sigma": "Σ", "Omega": "Ω",
    "partial": "∂", "nabla": "∇", "sum": "Σ", "prod": "Π", "int": "∫", "infty": "∞",
    "cdot": "·", "times": "×", "div": "÷", "pm": "±", "odot": "⊙", "circ": "∘",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈",
    "ll": "≪", "gg": "≫", "to": "→", "rightarrow": "→", "leftarrow": "←", "mapsto": "↦",
    "in": "∈", "top": "ᵀ", "ldots": "…", "dots": "…", "cdots": "⋯", "forall": "∀",
    "lVert": "‖", "rVert": "‖", "|": "‖", "sqrt": "√", "mid": "|", "quad": "  ",
    "{": "{", "}": "}", "%": "%", "_": "_", "#": "#", "&": "&", ",": " ", ";": " ", " ": " ",
}  # fmt: skip
_BETWEEN = "·×÷±⊙∘≤≥≠≈≪≫→←↦∈"  # signs that stand between two things, with room around
_WORDS = ("log", "exp", "sin", "cos", "tanh", "max", "min", "softmax", "arg", "dim")
_ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "dot": "\u0307"}
_STYLES = ("text", "mathrm", "mathbf", "mathbb", "mathcal", "operatorname", "left", "right")
_RAISED = dict(zip("0123456789+-−=()nijkTabcdexy", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱʲᵏᵀᵃᵇᶜᵈᵉˣʸ"))
_LOWERED = dict(zip("0123456789+-−=()aeijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"))
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.", re.S)


def unicode_math(source: str) -> str:
    """A formula in LaTeX's notation, in characters that a terminal has."""
    tokens = _TOKEN.findall(source)
    text, _ = _sequence(tokens, 0)
    return re.sub(r" {2,}", " ", text).strip()


def _sequence(tokens: list[str], at: int) -> tuple[str, int]:
    """Everything up to the closing brace (or the end), and the place after it."""
    out = ""
    while at < len(tokens) and tokens[at] != "}":
        piece, at = _item(tokens, at)
        out += piece
    return out, at + 1


def _item(tokens: list[str], at: int) -> tuple[str, int]:
    token = tokens[at]
    if token == "{":
        return _sequence(tokens, at + 1)
    if token in "^_" and at + 1 < len(tokens):
        inner, after = _argument(tokens, at + 1)
        return (
            _shifted(inner, _RAISED, "^") if token == "^" else _shifted(inner, _LOWERED, "_")
        ), after
    if not token.startswith("\\"):
        return (" " if token.isspace() else token), at + 1
    return _command(token[1:], tokens, at + 1)


def _command(name: str, tokens: list[str], at: int) -> tuple[str, int]:
    if name in ("frac", "tfrac", "dfrac"):
        above, at = _argument(tokens, at)
        below, at = _argument(tokens, at)
        return f"{_grouped(above)}/{_grouped(below)}", at
    if name == "sqrt":
        inner, at = _argument(tokens, at)
        return "√" + (inner if len(inner) == 1 else f"({inner})"), at
    if name in _ACCENTS:
        inner, at = _argument(tokens, at)
        return inner + _ACCENTS[name], at
    if name in _STYLES:
        if at < len(tokens) and tokens[at] == "{":
            return _argument(tokens, at)
        return "", at
    if name in _SIGNS:
        while at < len(tokens) and tokens[at].isspace():  # as LaTeX does after a command
            at += 1
        sign = _SIGNS[name]
        return (f" {sign} " if sign in _BETWEEN else sign), at
    return (name if name in _WORDS else "\\" + name), at


def _argument(tokens: list[str], at: int) -> tuple[str, int]:
    while at < len(tokens) and tokens[at].isspace():
        at += 1
    return _item(tokens, at) if at < len(tokens) else ("", at)


def _shifted(text: str, signs: dict[str, str], fallback: str) -> str:
    if text in ("ᵀ", "′", "'"):
        return text
    if text and all(each in signs for each in text):
        return "".join(signs[each] for each in text)
    return fallback + (text if len(text) == 1 else f"({text})")


def _grouped(text: str) -> str:
    """A numerator or denominator, in parentheses when it has several terms."""
    return f"({text})" if re.search(r"(?<!^)[+\-−·×/ ]", text) else text
