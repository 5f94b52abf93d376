"""Answers and what they are worth, for the judges in Python and in the exported page alike."""

from __future__ import annotations

__all__ = ["DECIMALS", "LINE_NUMBERS", "NEAR", "NUMBERS", "PERCENTS", "SAME_LINES"]

NUMBERS: tuple[tuple[str, str, float | str], ...] = (
    ("-12", "en", -12.0),
    (" −12 ", "en", -12.0),
    ("+.5", "en", 0.5),
    ("5.", "en", 5.0),
    ("1e-3", "en", 1e-3),
    ("1E3", "en", 1000.0),
    ("1/3", "en", 1 / 3),
    ("-1 / -4", "en", 0.25),
    ("1,000", "en", 1000.0),
    ("1,234,567.5", "en", 1234567.5),
    ("0,25", "en", "no_comma"),
    ("0,25", "es", 0.25),
    ("-1,5/3", "es", -0.5),
    ("1,000", "es", 1.0),
    ("1.234,5", "es", "a_number"),
    ("1/0", "en", "a_finite_number"),
    ("0/0", "en", "a_finite_number"),
    ("1e999", "en", "a_finite_number"),
    ("1e308/1e-2", "en", "a_finite_number"),
    ("1e-999", "en", 0.0),
    ("1e99999999999999999999", "en", "a_finite_number"),
    ("nan", "en", "a_number"),
    ("inf", "en", "a_number"),
    ("", "en", "a_number"),
    ("twelve", "en", "a_number"),
    ("1_000", "en", "a_number"),
    ("0x10", "en", "a_number"),
    ("10²", "en", "a_number"),
    ("٣", "en", "a_number"),
    ("1 2", "en", "a_number"),
    ("1/2/3", "en", "a_number"),
    ("--1", "en", "a_number"),
    ("1e", "en", "a_number"),
    (".", "en", "a_number"),
    ("9" * 5000, "en", "a_finite_number"),
    ("🙂", "en", "a_number"),
    ("\ufffd[A", "en", "a_number"),
)
"""Typed text, language, and the number or the key of the refusal."""

NEAR: tuple[tuple[float, float, float, bool], ...] = (
    (-12.0, -12.0, 0.0, True),
    (-12.01, -12.0, 0.01, True),
    (-12.02, -12.0, 0.01, False),
    (1.1, 1.0, 0.1, True),  # 1.1 − 1.0 is a little more than 0.1
    (0.1 + 0.2, 0.3, 0.0, True),
    (0.0, 0.0, 0.0, True),
    (1e-300, 0.0, 0.0, False),
    (12.0, -12.0, 0.01, False),
)
"""A value, the answer, the tolerance, and whether it counts."""

SAME_LINES: tuple[tuple[str, str, bool], ...] = (
    ("12.0", "12", True),
    ("tensor([1., 2.])", "tensor([1.0,2])", True),
    ("[1, 2]", "[12]", False),
    ("1 2", "12", False),
    ("4 -4", "4  -4", True),
    ("0.333333333", "0.3333333", True),
    ("0.333333333", "0.3333", False),
    ("1e-03", "0.001", True),
    ("-0.0", "0", True),
    ("1.1102230246251565e-16", "0", False),
    ("nan", "nan", True),
    ("nan", "NaN", False),
    ("inf", "inf", True),
    ("-inf", "inf", False),
    ("True", "true", False),
    ("x1 = 3", "x1=3", True),
    ("x1 = 3", "x2 = 3", False),
    ("float32", "float64", False),
    ("float32[2, 3]", "float32[2,3]", True),
    ("año ½ 🙂", "año ½ 🙂", True),
    ("año", "ano", False),
    ("-12", "−12", True),
    ("", "", True),
    ("", "1", False),
    ("9" * 400, "9" * 400, True),
    ("9" * 400, "8" * 400, False),
    ("a" * 20_000, "a" * 19_999, False),
    ("(" * 20_000, "(" * 20_000, True),
    ("RuntimeError: a < b", "RuntimeError: a < b", True),
    ("RuntimeError: a < b", "RuntimeError", False),
)
"""A printed line, a predicted one, and whether they are the same."""

LINE_NUMBERS: tuple[tuple[str, int | str], ...] = (
    ("3", 3),
    ("1", 1),
    ("4", 4),
    (" 3. ", 3),
    ("line 3", 3),
    ("Línea 3", 3),
    ("L3", 3),
    ("0", "a_line"),
    ("5", "a_line"),
    ("-3", "a_line"),
    ("3.5", "a_line"),
    ("3 4", "a_line"),
    ("", "a_line"),
    ("three", "a_line"),
    ("9" * 5000, "a_line"),
    ("003", 3),
)
"""Typed text and the line of a program of four, or the key of the refusal."""

PERCENTS: tuple[tuple[float, int], ...] = (
    (0.0, 0),
    (1.0, 100),
    (2 / 3, 67),
    (1 / 3, 33),
    (0.5, 50),
    (0.125, 12),
    (0.375, 38),
    (0.285, 28),
    (0.29, 29),
    (1e-6, 1),
    (0.004, 1),
    (0.999, 99),
    (1 - 1e-12, 99),
)
"""A share and the percent it is shown as."""

DECIMALS: tuple[tuple[str, str, str, bool, bool], ...] = (
    ("20.0", "20,0", "es", True, False),
    ("20.0", "20,0", "en", False, True),
    ("[1.5, 2.5]", "[1,5, 2,5]", "es", True, False),
    ("[1, 2]", "[1,2]", "es", True, False),
    ("[1, 2]", "[1,2]", "en", True, False),
    ("20.0", "21,0", "es", False, False),
    ("20.0", "21,0", "en", False, False),
)
"""A printed line, a predicted one, the language, whether it counts, and whether a comma is why."""
