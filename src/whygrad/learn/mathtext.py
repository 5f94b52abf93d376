"""Mathematics for a terminal: a small part of LaTeX as Unicode, ``\\frac{∂L}{∂a}`` as ``∂L/∂a``.

What has no sign of its own stays readable as plain text; nothing is ever dropped.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["unicode_math"]

_SIGNS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "varphi": "φ",
    "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ell": "ℓ",
    "partial": "∂", "nabla": "∇", "sum": "Σ", "prod": "Π", "int": "∫", "infty": "∞",
    "cdot": "·", "times": "×", "div": "÷", "pm": "±", "mp": "∓", "odot": "⊙", "otimes": "⊗",
    "oplus": "⊕", "circ": "∘", "ast": "∗", "star": "⋆", "prime": "′", "emptyset": "∅",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈",
    "equiv": "≡", "sim": "∼", "propto": "∝", "ll": "≪", "gg": "≫", "subset": "⊂", "cup": "∪",
    "cap": "∩", "to": "→", "rightarrow": "→", "leftarrow": "←", "mapsto": "↦",
    "Rightarrow": "⇒", "implies": "⇒", "iff": "⇔", "Leftrightarrow": "⇔",
    "in": "∈", "notin": "∉", "top": "ᵀ", "ldots": "…", "dots": "…", "cdots": "⋯", "vdots": "⋮",
    "forall": "∀", "exists": "∃", "langle": "⟨", "rangle": "⟩", "lfloor": "⌊", "rfloor": "⌋",
    "lceil": "⌈", "rceil": "⌉", "lVert": "‖", "rVert": "‖", "Vert": "‖", "|": "‖",
    "lvert": "|", "rvert": "|", "mid": "|", "quad": "  ", "qquad": "    ", "!": "",
    "{": "{", "}": "}", "%": "%", "_": "_", "#": "#", "&": "&", "$": "$",
    ",": " ", ";": " ", ":": " ", " ": " ",
}  # fmt: skip
_BETWEEN = "·×÷±∓⊙⊗⊕∘≤≥≠≈≡∼∝≪≫⊂∪∩→←↦⇒⇔∈∉"  # signs that stand between two things, with room around
_WORDS = ("log", "ln", "exp", "sin", "cos", "tan", "tanh", "max", "min", "softmax", "arg",
          "argmax", "argmin", "det", "dim", "lim", "sup", "inf")  # fmt: skip
_DOUBLE = dict(zip("CENPQRZ", "ℂ𝔼ℕℙℚℝℤ"))
_ACCENTS = {"hat": "\u0302", "bar": "\u0304", "tilde": "\u0303", "dot": "\u0307"}
_STYLES = ("text", "mathrm", "mathbf", "mathcal", "mathit", "mathtt", "operatorname", "left",
           "right", "big", "bigl", "bigr", "Big", "Bigl", "Bigr")  # fmt: skip
_CLOSE_TO_WORDS = ("left", "bigl", "Bigl", "big", ",", ";", "!", "{", "|")
_RAISED = dict(zip("0123456789+-−=()nijkTabcdexy", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱʲᵏᵀᵃᵇᶜᵈᵉˣʸ"))
_LOWERED = dict(zip("0123456789+-−=()aeijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"))
_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}^_]|\s+|.", re.S)


def unicode_math(source: str) -> str:
    """A formula in LaTeX's notation, in characters that a terminal has."""
    tokens = _TOKEN.findall(source)
    text, at = "", 0
    try:
        while at < len(tokens):
            piece, at = _sequence(tokens, at)
            text += piece + ("}" if at <= len(tokens) else "")  # one that closes nothing
    except RecursionError:
        return source
    return unicodedata.normalize("NFC", re.sub(r" {2,}", " ", text).strip())


def _sequence(tokens: list[str], at: int) -> tuple[str, int]:
    """Everything up to the closing brace (or the end), and the place after it.

    Where no brace closes it, that place lies beyond the end.
    """
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
        return "√" + (inner if len(inner) == 1 or inner.isdecimal() else f"({inner})"), at
    if name in _ACCENTS:
        inner, at = _argument(tokens, at)
        return inner + _ACCENTS[name], at
    if name == "mathbb":
        inner, at = _argument(tokens, at)
        return "".join(_DOUBLE.get(each, each) for each in inner), at
    if name in _WORDS:
        follows = tokens[at] if at < len(tokens) else ""
        apart = follows.isalnum() or (follows[:1] == "\\" and follows[1:] not in _CLOSE_TO_WORDS)
        return name + (" " if apart else ""), at
    if name in _STYLES:
        if at < len(tokens) and tokens[at] == "{":
            return _argument(tokens, at)
        return "", at
    if name in _SIGNS:
        sign = _SIGNS[name]
        if at + 1 < len(tokens) and tokens[at].isspace() and tokens[at + 1] in "=+-<>":
            return (f" {sign}" if sign in _BETWEEN else sign), at
        while at < len(tokens) and tokens[at].isspace():  # as LaTeX does after a command
            at += 1
        return (f" {sign} " if sign in _BETWEEN else sign), at
    return "\\" + name, at


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
