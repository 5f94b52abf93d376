"""The HTML report: one file, nothing from elsewhere, and a browser shows it."""

from __future__ import annotations

import html.parser
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.doctor.report.reporting import healthy, sick
from whygrad.doctor import Diagnosis
from whygrad.doctor.report import render
from whygrad.doctor.report.chart import asinh_scale, linear_scale, log_scale
from whygrad.doctor.report.html import style

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))),
    None,
)
_VOID = {"meta", "link", "br", "hr", "img", "input", "wbr"}


@pytest.fixture(scope="module")
def ill() -> Diagnosis:
    return sick()


class Outline(html.parser.HTMLParser):
    """Checks that tags are closed in order, and collects them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def outline(page: str) -> Outline:
    found = Outline()
    found.feed(page)
    assert not found.open
    return found


@pytest.mark.parametrize("make", [sick, healthy])
def test_the_page_is_well_formed_and_needs_nothing(make: object) -> None:
    assert callable(make)
    page = render(make(), "html")
    found = outline(page)
    tags = [tag for tag, _ in found.found]
    assert "script" not in tags
    assert not re.search(r"(src|href)=\"(?!#|data:)", page)
    assert "url(" not in page
    assert "@import" not in page
    for landmark in ("header", "main", "footer", "nav"):
        assert tags.count(landmark) == 1
    assert tags.count("h1") == 1
    drawings = [attributes for tag, attributes in found.found if tag == "svg"]
    assert all("aria-label" in each or "aria-hidden" in each for each in drawings)
    labelled = {attributes.get("aria-labelledby") for _, attributes in found.found} - {None}
    assert labelled == {a["id"] for tag, a in found.found if tag == "h2"}


def test_text_of_the_user_is_escaped(ill: Diagnosis) -> None:
    page = render(ill, "html")
    assert "The log of &lt;negative&gt; numbers" in page
    assert "<negative>" not in page


def test_a_notebook_gets_a_fragment_that_styles_only_itself(ill: Diagnosis) -> None:
    fragment = ill._repr_html_()
    assert fragment.startswith('<div class="whygrad-report">')
    outline(fragment)
    for rule in re.findall(r"([^{}]+)\{", re.sub(r"@media[^{]*\{", "", style())):
        assert all(".whygrad-report" in selector for selector in rule.split(",")), rule


def luminance(colour: str) -> float:
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", [0, 1])
def test_contrast(theme: int) -> None:
    blocks = [dict(re.findall(r"--([\w-]+): (#\w{6})", each)) for each in re.findall(
        r"\.whygrad-report \{(\n[^}]*--ground[^}]*)\}", style())]  # fmt: skip
    colours = blocks[theme]
    for text in ("ink", "soft", "bad", "good", "link", "warn"):
        for ground in ("ground", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    assert contrast(colours["bad"], colours["bad-ground"]) >= 4.5
    assert contrast(colours["good"], colours["good-ground"]) >= 4.5
    for at in range(7):
        assert contrast(colours[f"tone-{at}"], colours["ground"]) >= 3, at


def test_scales() -> None:
    linear = linear_scale(0, 96)
    assert [label for _, label in linear.ticks] == ["0", "20", "40", "60", "80"]
    assert (linear.position(0), linear.position(96)) == (0, 1)
    assert linear_scale(3, 3).position(3) == 0.5
    logarithmic = log_scale(0.02, 300)
    assert [label for _, label in logarithmic.ticks] == ["0.01", "0.1", "1", "10", "100", "1000"]
    assert logarithmic.position(0) == 0
    assert "10⁻⁸" in [label for _, label in log_scale(1e-8, 1.0).ticks]
    both = asinh_scale(-1e4, 1e4, 1.0)
    assert both.position(0) == pytest.approx(0.5)
    assert "−10⁴" in [label for _, label in both.ticks]


@pytest.mark.skipif(BROWSER is None, reason="no chromium or chrome to open the report with")
def test_a_browser_shows_it(ill: Diagnosis, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    ill.save(path)
    picture = tmp_path / "report.png"
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
        f"--user-data-dir={tmp_path / 'profile'}", "--window-size=1200,2400",
        f"--screenshot={picture}", "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "CONSOLE" not in done.stderr
    for part in ("The log of &lt;negative&gt; numbers", "nan-from-log", "Timeline", "Reproduce"):
        assert part in done.stdout, part
    assert done.stdout.count('<svg role="img"') == 4
    assert picture.stat().st_size > 50_000  # something was painted
