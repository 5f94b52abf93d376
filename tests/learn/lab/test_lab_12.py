"""Lab 12: what each mistake in a postmortem is told, and that its broken scripts are as claimed."""

from __future__ import annotations

import math
import re
import runpy
import sys
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import whygrad
from tests.learn.lab.mistakes import Changes, first_failing
from whygrad import doctor
from whygrad.cli.lab import lab as lab_command
from whygrad.dispatch.interception import intercepting
from whygrad.learn.lab import find, grade

LAB = find("postmortem")
GRADER = LAB.grader()
WATCHED = runpy.run_path(str(LAB.folder / "probes.py"))["watched"]


_BY_HAND = "-(scores.exp() / scores.exp().sum(1, keepdim=True))[:, 0].log().mean()"
_MANY_LINES = "".join(f"unused_{number} = {number}\n" for number in range(20))


@pytest.mark.parametrize(
    ("variant", "changes", "check", "says"),
    [
        (
            "orchard",
            {"step: 12\n  line: 24": "step:\n  line: 24"},
            "facts",
            "first_invalid.step is still",
        ),
        ("orchard", {"step: 12\n  line: 24": "step: twelve\n  line: 24"}, "facts", "not 'twelve'"),
        ("orchard", {"  step: 12\n  line: 24": "  step 12\n  line: 24"}, "facts", "Line 4"),
        ("orchard", {"handed_on:": "handed:"}, "facts", "no part handed_on"),
        ("orchard", {"---\nfirst": "first"}, "facts", "three dashes"),
        ("orchard", {"# Postmortem": "# Postmortem\n" + "x " * 10_000}, "facts", "characters"),
        ("orchard", {"step: 12\n  line: 24": "step: 15\n  line: 24"}, "first", "an earlier step"),
        ("orchard", {"step: 12\n  line: 24": "step: 10\n  line: 24"}, "first", "still finite"),
        (
            "orchard",
            {"step: 12\n  line: 24": "step: 12\n  line: 25"},
            "first",
            "was given something",
        ),
        (
            "orchard",
            {"step: 12\n  line: 24": "step: 12\n  line: 15"},
            "first",
            "makes nothing invalid",
        ),
        ("orchard", {"operation: log": "operation: mul"}, "first", "'mul' is not the operation"),
        ("orchard", {"value: -inf": "value: nan"}, "first", "did not make nan"),
        ("orchard", {"pass: forward": "pass: backward"}, "first", "before backward() begins"),
        ("glacier", {"pass: backward": "pass: forward"}, "first", "Look at the gradients"),
        ("glacier", {"step: 26": "step: 27"}, "first", "an earlier step"),
        (
            "meadow",
            {"operation: mul": "operation: log"},
            "handed-on",
            "the first invalid value again",
        ),
        (
            "orchard",
            {"line: 25\n  operation: mean": "line: 23\n  operation: log"},
            "handed-on",
            "only finite",
        ),
        ("orchard", {"operation: mean": "operation: sqrt"}, "handed-on", "it runs: add, mean, neg"),
        ("orchard", {"line: 25": "line: 39"}, "handed-on", "runs no operation"),
        (
            "orchard",
            {"kind: not-cleared": "kind: gradients"},
            "graph-cause",
            "cut, not-cleared, not-updated",
        ),
        (
            "orchard",
            {"kind: not-cleared": "kind: cut"},
            "graph-cause",
            "three things per parameter",
        ),
        ("harbour", {"line: 18": "line: 19"}, "graph-cause", "not the place"),
        ("harbour", {"kind: overflow": "kind: log-of-zero"}, "numerical-cause", "as its input"),
        (
            "harbour",
            {"overflow\n  line: 23": "overflow\n  line: 32"},
            "numerical-cause",
            "such data may come",
        ),
        (
            "harbour",
            {"overflow\n  line: 23": "overflow\n  line: 25"},
            "numerical-cause",
            "not the place",
        ),
        (
            "harbour",
            {"nn.functional.cross_entropy(scores, pier)": _BY_HAND},
            "fixed",
            "in step 17",
        ),
        ("harbour", {"STEPS = 60": "STEPS = 10"}, "fixed", "10 times"),
        ("harbour", {"lr=0.02": "lr=1e-7"}, "fixed", "fall by a quarter"),
        (
            "harbour",
            {"self.encoder(signals)": "self.encoder(signals).detach()"},
            "graph-fixed",
            "encoder.0.bias, encoder.0.weight",
        ),
        ("orchard", {"        optimizer.zero_grad()": "        pass"}, "graph-fixed", "in step 1"),
        (
            "quarry",
            {"optim.Adam(model.parameters()": "optim.Adam(model[2].parameters()"},
            "graph-fixed",
            "are what they were: 0.bias, 0.weight",
        ),
        (
            "lighthouse",
            {", nn.Linear(16, 16)])": "])"},
            "graph-fixed",
            "all layers",
        ),
        (
            "orchard",
            {"weight[3] = 300.0": "weight[3] = 2.0"},
            "targeted",
            "batch() in fixed.py is another one",
        ),
        ("orchard", {"STEPS = 60\n": f"STEPS = 60\n{_MANY_LINES}"}, "targeted", "lines differ"),
        ("orchard", {"assert ": "assert True or "}, "guardrail", "run to its end"),
        (
            "orchard",
            {
                "    assert math": "    assert step < 20 or math",
                "        assert ": "        assert True or ",
            },
            "guardrail",
            "in step 20",
        ),
        (
            "orchard",
            {', f"step {step}: the loss is {loss.item()}"': ""},
            "guardrail",
            "AssertionError without a word",
        ),
        (
            "orchard",
            {"math.isfinite(loss.item())": "loss.item() < 0.6"},
            "guardrail",
            "stops your fixed.py as well",
        ),
        ("orchard", {"## Fixes": "## Notes"}, "complete", "“Fixes” has 0 words"),
        ("orchard", {"## Fixes\n": "## Fixes\n" + "and so on " * 60}, "complete", "nobody reads"),
        ("orchard", {"In step 12, line 24,": "In step 12"}, "complete", "does not mention 24"),
        ("orchard", {"before line 36,": "early enough,"}, "complete", "does not mention 36"),
        (
            "orchard",
            {"## Causes\n": "## Causes\n\nThe training was unstable.\n"},
            "exact",
            "“unstable”",
        ),
        (
            "orchard",
            {"## Symptoms\n": "## Symptoms\n\nThen, for some reason, all was lost.\n"},
            "exact",
            "for some reason",
        ),
    ],
)
def test_mistakes_in_the_postmortem(
    tmp_path: Path, variant: str, changes: Changes, check: str, says: str
) -> None:
    first = first_failing(tmp_path, f"postmortem/{variant}", changes)
    assert first is not None
    assert first.id == check
    assert says in first.message


def test_vague_sentences_in_spanish(tmp_path: Path) -> None:
    said = {"## Causas\n": "## Causas\n\nEl entrenamiento era inestable por problemas numéricos.\n"}
    first = first_failing(tmp_path, "postmortem/quarry", said, "es")
    assert first is not None
    assert first.id == "exact"
    assert "«inestable»" in first.message
    assert first.notes == ("Causas: El entrenamiento era inestable por problemas numéricos.",)


@pytest.mark.parametrize(
    "sentence",
    [
        "De algún modo, la pérdida acabó en NaN.",
        "Había un problema con el gradiente.",
        "La pérdida se disparó.",
        "A lo mejor fue la tasa de aprendizaje.",
    ],
)
def test_phrases_that_fit_any_run_in_spanish(sentence: str) -> None:
    vague_in = GRADER._neighbour("report").vague_in
    assert vague_in(sentence).sentence == sentence
    assert vague_in(sentence.replace(".", " en el paso 12.")) is None


def test_a_strong_word_with_a_number_may_stand(tmp_path: Path) -> None:
    said = {"## Symptoms\n": "## Symptoms\n\nThe loss explodes in step 12.\n"}
    assert first_failing(tmp_path, "postmortem/orchard", said) is None


@pytest.mark.parametrize("written", ["/", "Div", "whygrad.div()", "`div`"])
def test_an_operation_may_be_written_in_several_ways(written: str) -> None:
    text = _variant("quarry").solution("en")["postmortem.md"]
    text = text.replace("operation: div", f'operation: "{written}"')
    assert GRADER._neighbour("report").facts_of(text)["first_invalid"]["operation"] == "div"


def test_a_changed_script_is_pointed_out(tmp_path: Path) -> None:
    lab = find("postmortem").drawn(0)
    texts = lab.solution("en")
    texts["train.py"] = texts["train.py"].replace("STEPS = 60", "STEPS = 60\n")
    texts["postmortem.md"] = texts["postmortem.md"].replace("line: 24", "line: 25")
    for file, text in texts.items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    report = grade(lab, tmp_path, seed=1)
    first = next(check for check in report.checks if not check.passed)
    assert first.id == "first"
    assert any("no longer the one you were given" in note for note in first.notes)


def _variant(name: str) -> Any:
    return LAB.drawn(LAB.variants.index(name))


def _watched(source: str) -> dict[str, Any]:
    return WATCHED(GRADER._neighbour("tracing").loaded(source))


# How to bring each fault back into the repaired script: the graph's, the numerical one.
FAULTS: dict[str, tuple[tuple[str, str], tuple[str, str]]] = {
    "orchard": (
        ("        optimizer.zero_grad()", "        pass"),
        ("nn.functional.binary_cross_entropy_with_logits(logits, target)",
         "-(target * whygrad.log(whygrad.sigmoid(logits))"
         " + (1 - target) * whygrad.log(1 - whygrad.sigmoid(logits))).mean()"),
    ),
    "harbour": (
        ("self.encoder(signals)", "self.encoder(signals).detach()"),
        ("nn.functional.cross_entropy(scores, pier)",
         "-(scores.exp() / scores.exp().sum(1, keepdim=True))[whygrad.arange(32), pier]"
         ".log().mean()"),
    ),
    "quarry": (
        ("    losses = []", "    model[2] = nn.Linear(16, 1)\n    losses = []"),
        (".clamp(min=1e-6)", ""),
    ),
    "glacier": (("self.scale * length", "float(self.scale) * length"), (" + 1e-12", "")),
    "meadow": (
        ("self.encoder(weather)", "self.encoder(weather).detach()"),
        ("nn.functional.softplus(", "whygrad.relu("),
    ),
    "lighthouse": (
        ("nn.ModuleList([nn.Linear(5, 16), nn.Linear(16, 16)])",
         "[nn.Linear(5, 16), nn.Linear(16, 16)]"),
        ("nn.functional.softplus(logits)", "whygrad.log(1 + whygrad.exp(logits))"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAB.variants)
def test_each_fault_alone_does_its_own_harm(name: str) -> None:
    fixed = _variant(name).solution("en")["fixed.py"]
    (sound, cut), (stable, fragile) = FAULTS[name]
    assert sound in fixed
    assert stable in fixed
    whole = _watched(fixed)
    in_graph = _watched(fixed.replace(sound, cut))
    numerical = _watched(fixed.replace(stable, fragile))
    assert all(map(math.isfinite, whole["losses"] + in_graph["losses"]))
    assert not all(map(math.isfinite, numerical["losses"] + numerical["held"]))
    assert not [*whole["without"], *whole["unmoved"], *filter(None, whole["held"])]
    assert in_graph["without"] or in_graph["unmoved"] or any(in_graph["held"]) or (
        in_graph["shapes"] != whole["shapes"]
    )  # fmt: skip
    assert numerical["shapes"] == whole["shapes"]


@pytest.mark.parametrize("name", LAB.variants)
def test_the_first_invalid_value_is_made_where_the_numerical_cause_is(name: str) -> None:
    lab = _variant(name)
    source = lab.starter("en")["train.py"]
    truth = GRADER._neighbour("tracing").truth_of(source)
    line = source.splitlines()[truth.first.line - 1]
    assert any(each in line for each in GRADER.FAULTS[name].numerical_lines)
    assert all(place.step >= truth.first.step for place in truth.handed_on)
    assert truth.handed_on


@pytest.mark.parametrize("name", LAB.variants)
@pytest.mark.parametrize("part", ["starter", "solution"])
def test_both_languages_have_the_same_lines(name: str, part: str) -> None:
    texts = [getattr(_variant(name), part)(language) for language in ("en", "es")]
    for file in ("train.py", "fixed.py", "guardrail.py"):
        assert len({len(each[file].splitlines()) for each in texts}) == 1


@pytest.mark.parametrize("name", LAB.variants)
def test_the_doctor_finds_the_fault_in_the_graph(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second opinion, from rules that know nothing of this lab."""
    for file, text in _variant(name).starter("en").items():
        (tmp_path / file).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("guardrail", None)
    with doctor.watch() as doc:
        runpy.run_path(str(tmp_path / "train.py"), run_name="__main__")
    del sys.modules["guardrail"]
    rules = {
        "cut": {"detached-graph"},
        "not-cleared": {"missing-zero-grad"},
        "not-updated": {"parameter-not-in-optimizer", "disconnected-parameter"},
    }
    assert rules[GRADER.FAULTS[name].graph] & {finding.rule for finding in doc.findings}


class _Seen:
    """What a script does: losses, norms of gradients, and the range of what each op was given."""

    def __init__(self, source: str) -> None:
        self.losses: list[float] = []
        self.norms: list[dict[str, float | None]] = []
        self.ranges: dict[tuple[int, str], tuple[float, float]] = {}
        module = GRADER._neighbour("tracing").loaded(source)

        def guard(step: int, model: Any, loss: Any) -> None:
            self.losses.append(loss.item())
            named = model.named_parameters()
            grads = {name: each.grad for name, each in named}
            norms = {k: None if grad is None else grad.norm().item() for k, grad in grads.items()}
            self.norms.append(norms)

        def look(op: Any, rest: Callable[..., Any], args: tuple[Any, ...]) -> Any:
            given = args[0] if args else None
            if isinstance(given, whygrad.Tensor) and given.is_floating_point() and given.numel():
                values = given.detach().numpy()
                key = (len(self.losses), op.name)
                self.ranges.setdefault(key, (float(values.min()), float(values.max())))
            return rest(*args)

        module.guard = guard
        with intercepting(look):
            module.train()

    def highest(self, step: int, op: str) -> float:
        return self.ranges[step, op][1]

    def lowest(self, step: int, op: str) -> float:
        return self.ranges[step, op][0]


@cache
def _seen(name: str, file: str) -> _Seen:
    return _Seen(_variant(name).solution("en")[file])


# Every number of a reference postmortem that is no step, line or count, and what it is.
CLAIMS: dict[str, Callable[[_Seen, _Seen], dict[str, float | None]]] = {
    "orchard": lambda run, repaired: {
        "0.658": run.losses[0], "0.418": run.losses[10], "0.396": run.losses[11],
        "4.8": run.highest(11, "sigmoid"), "654": run.highest(12, "sigmoid"),
        "0.257": run.norms[0]["2.weight"], "1.17": run.norms[11]["2.weight"],
        "0.421": repaired.losses[55],
    },
    "harbour": lambda run, repaired: {
        "0.483": run.losses[15], "0.51": run.losses[16], "517": run.highest(17, "exp"),
        "0.659": run.norms[0]["head.weight"], "88.7": math.log(3.4028235e38),
        "0.0079": repaired.losses[55],
    },
    "quarry": lambda run, repaired: {
        "1.66": run.losses[0], "0.235": run.losses[20], "1.5": 1.5, "1e-6": 1e-6,
        "1.6": run.norms[0]["2.weight"], "29.7": run.norms[20]["2.weight"],
        "0.0088": repaired.losses[55],
    },
    "glacier": lambda run, repaired: {
        "7.91": run.losses[0], "1.34": run.losses[25], "1.52": run.losses[26], "1e-12": 1e-12,
        "1.98": run.norms[25]["place.weight"], "0.0768": repaired.losses[55],
    },
    "meadow": lambda run, repaired: {
        "-0.167": run.lowest(39, "relu"),
        "0.559": min(run.lowest(step, "relu") for step in range(39)),
        "0.993": run.norms[39]["rate.weight"],
        "-3.36": repaired.losses[35], "-3.10": run.losses[35],
    },
    "lighthouse": lambda run, repaired: {
        "0.681": run.losses[0], "0.655": run.losses[30], "657": run.highest(31, "exp"),
        "88.7": math.log(3.4028235e38), "0.0305": repaired.losses[30],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", LAB.variants)
def test_numbers_of_the_reference_postmortems_were_measured(name: str) -> None:
    claims = CLAIMS[name](_seen(name, "train.py"), _seen(name, "fixed.py"))
    for text, value in claims.items():
        assert value is not None
        assert float(text) == round(value, -int(Decimal(text).as_tuple().exponent)), text
    for language in ("en", "es"):
        prose = _variant(name).solution(language)["postmortem.md"].split("---\n", 2)[2]
        spoken = re.findall(r"(?<![\w.])[-−]?\d+(?:\.\d+|e-\d+)", prose)
        spoken += [each for each in re.findall(r"(?<![\w.])\d+(?![\w.])", prose) if int(each) > 60]
        assert {each.replace("−", "-") for each in spoken} <= set(claims)


def test_statements_of_the_reference_postmortems() -> None:
    orchard, harbour, quarry = (
        _seen(name, "train.py") for name in ("orchard", "harbour", "quarry")
    )
    assert [step for step, loss in enumerate(orchard.losses) if math.isnan(loss)] == [
        *range(12, 60)
    ]
    assert whygrad.sigmoid(whygrad.tensor(18.0)).item() == 1.0
    assert max(harbour.highest(step, "exp") for step in range(17)) < 2
    assert all(each["encoder.0.weight"] is None for each in harbour.norms)
    assert math.isfinite(quarry.losses[20])
    assert math.isnan(quarry.losses[21])
    glacier, meadow, lighthouse = (
        _seen(name, "train.py") for name in ("glacier", "meadow", "lighthouse")
    )
    assert all(each["scale"] is None for each in glacier.norms)
    assert [step for step, loss in enumerate(meadow.losses) if math.isnan(loss)] == [39, 49, 55, 59]
    assert all(math.isfinite(each["rate.weight"] or 0) for each in meadow.norms)
    assert all(each["encoder.0.bias"] is None for each in meadow.norms)
    assert lighthouse.losses[31] == math.inf
    assert [len(each) for each in lighthouse.norms] == [2] * 60
    for name in LAB.variants:
        assert all(map(math.isfinite, _seen(name, "fixed.py").losses))


def test_start_draws_by_seed_and_the_solution_is_that_of_the_variant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHYGRAD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    run = CliRunner().invoke
    assert run(lab_command, ["start", "12", "--seed", "9", "--lang", "es"]).exit_code == 0
    folder = tmp_path / "whygrad-labs" / "12_postmortem"
    assert "dos estacas en el hielo" in (folder / "train.py").read_text(encoding="utf-8")
    again = run(lab_command, ["start", "12", "--seed", "1", "--lang", "es"])
    assert "no se ha sobrescrito nada" in again.output
    assert run(lab_command, ["solution", "12"]).exit_code == 1
    for file, text in _variant("glacier").solution("es").items():
        (folder / file).write_text(text, encoding="utf-8")
    graded = run(lab_command, ["check", "12"])
    assert graded.exit_code == 0, graded.output
    shown = run(lab_command, ["solution", "12"])
    assert "root-at-zero" in shown.output
