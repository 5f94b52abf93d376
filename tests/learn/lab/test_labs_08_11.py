"""Labs 8 to 11: classic mistakes fail the right check, and what is claimed of PyTorch holds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.checkpoint import checkpoint_sequential
from torch.utils.flop_counter import FlopCounterMode

import whygrad
from tests.learn.lab.mistakes import Nearby
from whygrad.learn.lab.bench import Bench, Check
from whygrad.learn.lab.catalogue import find
from whygrad.learn.language import Language

SEED = 8


@pytest.fixture
def first_failure(tmp_path: Path) -> Any:
    """Grade the reference solution with some texts replaced, up to the first check that fails.

    The texts to replace are given as ``{file: [(old, new), …]}``.
    """

    def graded(
        name: str,
        changes: dict[str, list[tuple[str, str]]],
        language: Language = "en",
        wanted: str = "",
    ) -> Check:
        lab = find(name)
        files = lab.solution("en")
        for file, replacements in changes.items():
            for old, new in replacements:
                assert old in files[file], f"{file} no longer contains {old!r}"
                files[file] = files[file].replace(old, new)
        for file, text in files.items():
            (tmp_path / file).write_text(text, encoding="utf-8")
        bench = Nearby(lab, tmp_path, language, SEED, wanted=wanted)
        failing = (check for check in lab.grader().grade(bench) if not check.passed)
        return next(failing, Check("", True))

    return graded


@pytest.mark.parametrize(
    ("name", "file", "old", "new", "said"),
    [
        ("versions", "predictions.py", "return 2 * k\n", "return k\n", "Predijiste"),
        ("views-and-dispatch", "predictions.py", '"x.t()": "view"', '"x.t()": "copy"', "En VIEWS"),
        ("custom-function", "attention.py", "Attention.apply(", "_Other.apply(", "Tu programa"),
        ("checkpointing", "predictions.py", '"calls": 66', '"calls": 72', "En TABLE 1 valores"),
    ],
)
def test_failures_are_told_in_spanish(
    first_failure: Any, name: str, file: str, old: str, new: str, said: str
) -> None:
    failure = first_failure(name, {file: [(old, new)]}, "es")
    assert said in " ".join([failure.message, *failure.notes])


# Lab 8


@pytest.fixture
def in_float64() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.usefixtures("in_float64")
@pytest.mark.parametrize("place", range(10), ids=lambda place: f"program {place + 1}")
def test_programs_do_in_pytorch_what_the_grader_says(place: int) -> None:
    grader = find("versions").grader()
    program = grader._programs()[place]
    numbers = {"a": 1.25, "b": 3.0, "k": 2.5, "c": 0.75}
    names: dict[str, Any] = {"wg": torch, **numbers}
    reached: Any
    try:
        exec(program.source, names)
        reached = names["x"].grad.tolist()
    except RuntimeError as error:
        at_the_write = "leaf Variable that requires grad" in str(error)
        reached = grader._REFUSED if at_the_write else grader._STOPPED
    truth = grader._truth(program, numbers)
    assert isinstance(truth, dict) == (place == 9)
    expected = truth["pytorch"] if isinstance(truth, dict) else truth
    assert reached == (expected if isinstance(expected, str) else pytest.approx(expected))


def test_the_solution_shows_the_programs_of_the_starter() -> None:
    lab = find("versions")
    programs = [
        [part.split('"""', 2)[1] for part in text.split("\ndef ")[1:]]
        for text in (lab.starter("en")["predictions.py"], lab.solution("en")["predictions.py"])
    ]
    assert programs[0] == programs[1]


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param("return 2 * k\n", "return STOPPED\n", "program-2", "Has the sum saved h?",
                     id="every write is an error"),
        pytest.param("return REFUSED", "return k", "program-3", "leaf that requires a gradient",
                     id="a leaf that nobody saved"),
        pytest.param("return REFUSED", "return STOPPED", "program-3", "allowed at all",
                     id="the leaf's error comes in backward"),
        pytest.param("return k * math.exp(a * k)", "return k * math.exp(a * k + 1)", "program-5",
                     "You predicted", id="exp at the new input"),
        pytest.param("return k * math.exp(a * k)", "return STOPPED", "program-5", "input of exp",
                     id="exp saves its input"),
        pytest.param("return [0, 2 * b + 2 * k**2 * b]", "return [2 * k**2 * a, 2 * k**2 * b]",
                     "program-7", "recorded", id="copy_ is not recorded"),
        pytest.param("return 2 * (c * k * a) * k", "return 2 * (c * k) ** 2 * a", "program-9",
                     "no node was recorded", id=".data is recorded"),
        pytest.param('"whygrad": STOPPED', '"whygrad": 2 * k**2 * a', "program-10", ".data",
                     id="whygrad overlooks it"),
        pytest.param('{"pytorch": 2 * (c * k * a) * k, "whygrad": STOPPED}', "STOPPED",
                     "program-10", "two predictions", id="one engine only"),
        pytest.param('"program_9", "program_10"', '"program_2", "program_9"', "silent",
                     "1 names do not belong there and 1 are missing", id="silent and not"),
        pytest.param('"program_9", "program_10"', '"program_11"', "silent", "program_11",
                     id="a program that is none"),
        pytest.param("import math", "import math\nimport whygrad", "program-1", "whygrad",
                     id="asks the engine"),
    ],
)  # fmt: skip
def test_versions_predictions(
    first_failure: Any, old: str, new: str, check: str, said: str
) -> None:
    failure = first_failure("versions", {"predictions.py": [(old, new)]}, wanted=check)
    assert failure.id == check
    assert said in " ".join([failure.message, *failure.notes])
    assert failure.target is None  # the answer is not given away


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param("        x -= k * x\n", "        pass\n", "repair-loud", "not enough",
                     id="no write, no error"),
        pytest.param("x -= k * x", "x.data.sub_(k * x)", "", "", id=".data after backward is fine"),
        pytest.param("h = h * c", "h = h.data * c", "repair-silent", "nor is hiding it",
                     id="cut off"),
        pytest.param("h = h * c", "h = h.detach().mul_(c) + 0 * h", "repair-silent", "x.grad",
                     id="written behind the back"),
        pytest.param("h = h * c", "h.mul_(c)", "", "", id="a recorded write"),
    ],
)  # fmt: skip
def test_versions_repairs(first_failure: Any, old: str, new: str, check: str, said: str) -> None:
    failure = first_failure("versions", {"repairs.py": [(old, new)]}, wanted=check)
    assert failure.id == check
    place = failure.difference.place if failure.difference else ""
    assert said in f"{failure.message} {place}"


# Lab 9


def _predictions(table: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(find("views-and-dispatch").solution("en")["predictions.py"], names)
    return names[table]


@pytest.mark.parametrize(("expression", "expected"), _predictions("VIEWS").items())
def test_pytorch_makes_the_same_views(expression: str, expected: str) -> None:
    x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = eval(expression, {"wg": torch, "x": x})
    shared = y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert ("itself" if y is x else "view" if shared else "copy") == expected


@pytest.mark.parametrize(("expression", "expected"), _predictions("SAVES").items())
def test_pytorch_saves_the_same(expression: str, expected: str) -> None:
    a, b = (torch.rand(2, 2, requires_grad=True) for _ in "ab")
    node = eval(expression, {"F": torch.nn.functional, "a": a, "b": b}).grad_fn
    names = {name for name in dir(node) if name.startswith("_saved_")}
    saved = {name for name in names if isinstance(getattr(node, name), torch.Tensor)}
    outputs = saved & {"_saved_result"}
    kinds = {(False, False): "none", (True, False): "input", (False, True): "output"}
    assert kinds.get((bool(saved - outputs), bool(outputs)), "both") == expected


def test_the_dtype_is_no_dispatch_key_in_pytorch() -> None:
    def keys(tensor: torch.Tensor) -> str:
        return str(torch._C._dispatch_keys(tensor))

    plain = keys(torch.ones(2, 2))
    assert keys(torch.ones(2, 2, dtype=torch.float64)) == plain
    assert keys(torch.ones(2, 2, device="meta")) != plain
    assert keys(torch.ones(2, 2).to_sparse()) != plain


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param('"x.t().reshape(6)": "copy"', '"x.t().reshape(6)": "view"', "views",
                     "x.t().reshape(6): 'view'", id="reshape never copies"),
        pytest.param('"x[:, 0].reshape(2)": "view"', '"x[:, 0].reshape(2)": "copy"', "views",
                     "x[:, 0].reshape(2): 'copy'", id="not contiguous means a copy"),
        pytest.param('"x.contiguous()": "itself"', '"x.contiguous()": "copy"', "views",
                     "1 of 16", id="contiguous always copies"),
        pytest.param('"x.clone()": "copy"', '"x.clone()": None', "views", "1 entries left",
                     id="one left out"),
        pytest.param('    "x.clone()": "copy",\n', "", "views", "other entries",
                     id="one taken out"),
        pytest.param('"a.relu()": "output"', '"a.relu()": "both"', "saves", "a.relu(): 'both'",
                     id="relu keeps both"),
        pytest.param('"a + b": "none"', '"a + b": "input"', "saves", "a + b: 'input'",
                     id="add keeps its inputs"),
        pytest.param('    "wg.mul(w, f)": {"float32", "cpu", "strided"},',
                     '    "wg.mul(w, f)": {"float32", "cpu", "strided", "autograd"},', "keys",
                     "KEYS_UNDER_NO_GRAD", id="no_grad changes nothing"),
        pytest.param('"wg.exp(m)": {"float32", "meta", "strided"}',
                     '"wg.exp(m)": {"float32", "cpu", "meta", "strided"}',
                     "keys", "wg.exp(m)", id="meta is on the cpu"),
        pytest.param("VIEWS = {", "import whygrad\nVIEWS = {", "views", "whygrad",
                     id="asks the engine"),
    ],
)  # fmt: skip
def test_views_and_dispatch_predictions(
    first_failure: Any, old: str, new: str, check: str, said: str
) -> None:
    failure = first_failure("views-and-dispatch", {"predictions.py": [(old, new)]}, wanted=check)
    assert failure.id == check
    assert said in " ".join([failure.message, *failure.notes])
    assert failure.target is None


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param("tensor.untyped_storage().data_ptr()", "tensor.data_ptr()", "views-asked",
                     "x[1:]", id="the first address"),
        pytest.param("_memory(a) == _memory(b)", "np.shares_memory(a.numpy(), b.numpy())",
                     "views-asked", "x[:2], x[2:]", id="common elements"),
        pytest.param("_memory(a) == _memory(b)", "b._base is a", "views-asked",
                     "x[1:]", id="the base"),
        pytest.param('    if b is a:\n        return "itself"\n', "", "views-asked",
                     "itself", id="no identity"),
        pytest.param("np.shares_memory(each, tensor.detach().numpy())",
                     "np.array_equal(each, tensor.detach().numpy())", "saves-asked",
                     "a.abs()", id="equal numbers"),
        pytest.param("any(map(has, inputs)), has(output)", "bool(saved), has(output)",
                     "saves-asked", "a * 3", id="anything saved is an input"),
        pytest.param(" - set(explanation.hidden)", "", "keys-asked", "no_grad",
                     id="hidden keys"),
    ],
)  # fmt: skip
def test_views_and_dispatch_asking(
    first_failure: Any, old: str, new: str, check: str, said: str
) -> None:
    failure = first_failure("views-and-dispatch", {"asking.py": [(old, new)]}, wanted=check)
    assert failure.id == check
    assert failure.compared
    assert said in failure.example


# Lab 10


@pytest.mark.parametrize("causal", [False, True])
def test_attention_by_formula_is_pytorchs(causal: bool) -> None:
    grader = find("custom-function").grader()
    bench = Bench(find("custom-function"), Path(), seed=SEED)
    arrays = grader._arrays(bench, (4, 4, 4, 3, (2,)))
    q, k, v = (torch.tensor(arrays[name], requires_grad=True) for name in "qkv")
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    out.backward(torch.tensor(arrays["incoming"]))
    formula = grader._attention(arrays, causal)
    for name, expected in {
        "out": out,
        "q.grad": q.grad,
        "k.grad": k.grad,
        "v.grad": v.grad,
    }.items():
        torch.testing.assert_close(torch.tensor(formula[name]), expected)


def test_the_plain_composition_keeps_the_matrix() -> None:
    q, k, v = (whygrad.ones(64, 4, requires_grad=True) for _ in "qkv")
    out = (q @ k.mT / 2).softmax(-1) @ v
    assert max(row.bytes for row in whygrad.autograd.graph.memory(out).rows) == 64 * 64 * 4


def test_a_second_derivative_of_the_solution_is_refused() -> None:
    for decorator in ("    @once_differentiable  # ", "    # "):
        names: dict[str, Any] = {}
        source = find("custom-function").solution("en")["attention.py"]
        exec(source.replace("    @once_differentiable  # ", decorator), names)
        x = whygrad.ones(2, 2, dtype=whygrad.float64, requires_grad=True)
        loss = names["attention"](x, x, x).square().sum()
        (first,) = whygrad.autograd.grad(loss, x, create_graph=True)
        with pytest.raises(RuntimeError):
            whygrad.autograd.grad(first.square().sum(), x)


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param("scores = scores.masked_fill(later, -math.inf)", "scores = scores * ~later",
                     "causal", "", id="zeros instead of -inf"),
        pytest.param("return Attention.apply(q, k, v, causal)",
                     "return _scores(q, k, causal).softmax(-1) @ v", "function", "one node",
                     id="no Function at all"),
        pytest.param(" - mean) / root", " - mean)", "gradients",
                     "√d times too large", id="the scale is forgotten"),
        pytest.param("(incoming @ v.mT - mean)", "(incoming @ v.mT)", "gradients",
                     "This is P·dP", id="the mean is forgotten"),
        pytest.param("return of_q, of_k, of_v, None", "return of_q, of_k, of_v", "gradients",
                     "gradient", id="one gradient per argument"),
        pytest.param("_scores(q, k, ctx.causal)", "_scores(q, k, False)", "causal-gradients",
                     "zeros above the diagonal", id="the mask is forgotten in backward"),
        pytest.param("ctx.save_for_backward(q, k, v, out, lse)",
                     "ctx.save_for_backward(q, k, v, out, lse)\n        ctx.P = scores.exp()",
                     "saved", "ctx.P: 524,288 bytes", id="probabilities on ctx"),
        pytest.param("out = (scores - lse).exp() @ v\n",
                     "out = (scores - lse).exp() @ v\n        KEPT.append(scores)\n",
                     "saved", "bytes more are alive", id="kept behind the graph's back"),
        pytest.param("scores.logsumexp(-1, keepdim=True)",
                     "scores.exp().sum(-1, keepdim=True).log()", "stable", "exp overflows",
                     id="overflow"),
        pytest.param("dtype=wg.float64, requires_grad=True)", "requires_grad=True)", "gradcheck",
                     "Which dtype", id="gradcheck in float32"),
        pytest.param("wg.randn(2, 3, 4, dtype", "wg.zeros(2, 3, 4, dtype", "gradcheck",
                     "q, k is 5 % too large", id="gradcheck at zero"),
        pytest.param("_ = ctx.needs_input_grad", "_ = [True] * 4", "needs",
                     "Only q required a gradient", id="everything is computed"),
        pytest.param("return of_q, of_k, of_v, None",
                     "of_q, of_k, of_v = (g if n else None for g, n in "
                     "zip((of_q, of_k, of_v), ctx.needs_input_grad))\n"
                     "        return of_q, of_k, of_v, None", "", "", id="right, in other words"),
    ],
)  # fmt: skip
def test_custom_function(first_failure: Any, old: str, new: str, check: str, said: str) -> None:
    changes = [(old, new)]
    if "KEPT" in new:
        changes.append(("class Attention", "KEPT = []\n\n\nclass Attention"))
    failure = first_failure("custom-function", {"attention.py": changes}, wanted=check)
    assert failure.id == check
    assert said in " ".join([failure.message, *failure.notes])


# Lab 11


def _products(layers: int, segments: int) -> float:
    """Matrix products of one step in PyTorch, all segments but the last checkpointed."""
    weights = [torch.randn(4, 4, requires_grad=True) for _ in range(layers)]
    functions = [lambda h, weight=weight: (h @ weight).tanh() for weight in weights]
    x = torch.randn(2, 4, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        out = checkpoint_sequential(functions, segments, x, use_reentrant=False)
        out.sum().backward()
    return counter.get_total_flops() / (2 * 2 * 4 * 4)


def test_a_second_forward_is_a_third_more_in_pytorch() -> None:
    assert _products(12, 1) == 3 * 12
    names: dict[str, Any] = {}
    exec(find("checkpointing").solution("en")["predictions.py"], names)
    for segments in (2, 6, 12):
        more = _products(12, segments) / (3 * 12) - 1
        assert more == pytest.approx(names["extra"](12, segments))
    assert names["extra"](36, 6) == pytest.approx(0.278, abs=1e-3)
    assert names["extra"](36, 36) == pytest.approx(1 / 3, abs=0.01)


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param('"calls": 66, "peak": 12', '"calls": 72, "peak": 12', "table",
                     "6 segments: calls: 72", id="the last segment runs again"),
        pytest.param('"calls": 71, "peak": 37', '"calls": 71, "peak": 1', "table",
                     "36 segments: peak: 1", id="the inputs are free"),
        pytest.param('"calls": 71, "peak": 37', '"calls": None, "peak": None', "table",
                     "2 values left", id="not filled in"),
        pytest.param("n + (n - n // k)", "2 * n", "calls", "which of them run again",
                     id="everything twice"),
        pytest.param("k + c * (n // k)", "c * (k + n // k)", "peak", "inputs of all segments",
                     id="inputs count c times"),
        pytest.param("/ (3 * n)", "/ n", "extra", "2 backward", id="backward is free"),
        pytest.param("TABLE = {", "import whygrad\n\nTABLE = {", "table", "whygrad",
                     id="measured, not predicted"),
    ],
)  # fmt: skip
def test_checkpointing_predictions(
    first_failure: Any, old: str, new: str, check: str, said: str
) -> None:
    failure = first_failure("checkpointing", {"predictions.py": [(old, new)]}, wanted=check)
    assert failure.id == check
    assert said in " ".join([failure.message, *failure.notes])


@pytest.mark.parametrize(
    ("old", "new", "check", "said"),
    [
        pytest.param("checkpoint(_in_order, part, x)",
                     "checkpoint(lambda h: _in_order(part, h), x)", "gradients", "loop variable",
                     id="late binding"),
        pytest.param("checkpoint(_in_order, part, x)", "_in_order(part, x).detach()", "gradients",
                     "grads", id="cut off"),
        pytest.param("checkpoint(_in_order, part, x)", "_in_order(part, x)", "segments",
                     "2 segments of 4 layers were asked for; these were the sizes of yours: [4]",
                     id="no checkpoint at all"),
        pytest.param("return _in_order(last, x)", "return checkpoint(_in_order, last, x)",
                     "segments", "the last segment too", id="the last one as well"),
        pytest.param("count * place // segments for place in range(segments + 1)",
                     "count // segments * place for place in range(segments)] + [count",
                     "segments", "at most one: [2, 2, 2, 2, 4]", id="the rest at the end"),
        pytest.param("        h = layer(h)\n", "        h = layer(h)\n        KEPT.append(h)\n",
                     "memory", "What else keeps values", id="a list that grows"),
        pytest.param("part, x)\n", "part, x, preserve_rng_state=False)\n", "dropout",
                     "preserve_rng_state", id="other random numbers"),
        pytest.param("k: peak(n, k, c))", "k: abs(k - n**0.5))", "best", "not always near √n",
                     id="always √n"),
        pytest.param("next((k for k in _divisors(n) if peak(n, k, c) <= budget), None)",
                     "best_segments(n, c)", "budget", "Fewer segments", id="always the least"),
        pytest.param("    count = len(layers)",
                     "    from whygrad.utils.checkpoint import checkpoint_sequential\n"
                     "    return checkpoint_sequential(layers, segments, x)\n"
                     "    count = len(layers)", "gradients", "without checkpoint_sequential",
                     id="somebody else's"),
    ],
)  # fmt: skip
def test_checkpointing_segments(
    first_failure: Any, old: str, new: str, check: str, said: str
) -> None:
    changes = [(old, new)]
    if "KEPT" in new:
        changes.append(("def run(", "KEPT = []\n\n\ndef run("))
    failure = first_failure("checkpointing", {"segments.py": changes}, wanted=check)
    assert failure.id == check
    place = failure.difference.place if failure.difference else ""
    assert said in f"{failure.message} {place}"
