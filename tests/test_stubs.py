"""What a type checker sees is what the op table makes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from mypy import api

import whygrad
from scripts import overloads, stubs
from whygrad.ops.define import table

_CACHE = Path(__file__).parent.parent / ".mypy_cache" / "user"


def check(program: str, folder: Path) -> list[str]:
    """The complaints of a strict type checker about a user's program."""
    file = folder / "program.py"
    file.write_text(textwrap.dedent(program), encoding="utf-8")
    options = ["--strict", "--config-file=", f"--cache-dir={_CACHE}", "--no-error-summary"]
    out, trouble, _ = api.run([*options, "--no-pretty", str(file)])
    assert not trouble
    return [line.partition("program.py:")[2] for line in out.splitlines() if ": error:" in line]


def test_stubs_are_up_to_date() -> None:
    stale = [
        path.name
        for path, text in stubs.generate().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    assert not stale, "the op table has changed: run `make stubs`"


def test_check_fails_on_a_stale_stub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = tmp_path / "whygrad" / "linalg.pyi"
    stub.parent.mkdir()
    stub.write_text("old")
    monkeypatch.setattr(stubs, "_PACKAGE", stub.parent)
    monkeypatch.setattr(stubs, "generate", lambda: {stub: "new"})
    assert stubs.main(["--check"]) == 1
    assert "stale whygrad/linalg.pyi" in capsys.readouterr().out
    assert stub.read_text() == "old"
    assert stubs.main([]) == 0
    assert stub.read_text() == "new"
    assert stubs.main(["--check"]) == 0


def test_every_overload_is_in_use() -> None:
    assert overloads.forms.keys() <= table.keys()
    assert all(hasattr(whygrad.Tensor, name) for name in overloads.method_forms)


def test_a_correct_program_passes(tmp_path: Path) -> None:
    program = """
        import numpy as np

        import whygrad as wg
        import whygrad.nn.functional as F
        from whygrad import linalg

        x = wg.randn(3, 4, dtype=wg.float64, requires_grad=True)
        probabilities: wg.Tensor = wg.softmax(x, dim=-1)
        total: wg.Tensor = x.exp().sum(dim=(0, 1), keepdim=True)
        mixed: wg.Tensor = 2 * x + 1 - x / 3 + x * np.ones(4)
        power: wg.Tensor = wg.pow(2, x)
        positive: wg.Tensor = wg.where(x > 0, x, 0.0)
        equal: wg.Tensor = x == 0
        same: bool = wg.allclose(x, x)
        largest: wg.Tensor = x.max()
        values, indices = x.max(dim=1)
        in_order: wg.Tensor = x.sort(descending=True).values
        left: wg.Tensor = linalg.svd(x).U
        activated: wg.Tensor = F.gelu(x, approximate="tanh")
        joined: wg.Tensor = wg.cat([x, values[:, None]], dim=1)
        pieces: tuple[wg.Tensor, ...] = x.split(2)
        converted: wg.Tensor = x.float().reshape(2, -1).permute(1, 0)
        kind: wg.DType = wg.float32
        with wg.no_grad():
            x.mul_(2).clamp_(min=0.0)
            x += 1
        total.sum().backward()
        gradient: wg.Tensor | None = x.grad
    """
    assert check(program, tmp_path) == []


def test_paths_of_aliases_are_known(tmp_path: Path) -> None:
    program = """
        import whygrad as wg
        import whygrad.backends.cudnn as cudnn
        import whygrad.cuda.amp
        from whygrad.autograd import Function, forward_ad
        from whygrad.autograd.forward_ad import dual_level
        from whygrad.cuda.amp import GradScaler
        from whygrad.linalg import inv
        from whygrad.nn import Linear
        from whygrad.utils.data.dataloader import DataLoader

        x: wg.Tensor = inv(wg.ones(2, 2))
        count: int = whygrad.cuda.device_count()
        cudnn.benchmark = True
        wrong: str = inv(x)
    """
    (complaint,) = check(program, tmp_path)
    assert complaint.startswith("15:")


def test_no_stub_is_left_over() -> None:
    written = set(stubs._STUBS.rglob("*.pyi"))
    assert written == {path for path in stubs._alias_stubs() if path.suffix == ".pyi"}


def test_wrong_calls_are_reported(tmp_path: Path) -> None:
    program = """\
        import whygrad as wg
        x = wg.ones(3)
        wg.softmax(x, dim="last")
        wg.softmacks(x)
        x.softmacks()
        x.sum(dims=0)
        wg.zeros(2, dtyp=wg.float32)
        wg.add(x)
        text: str = wg.exp(x)
        x.sort().value
        "a" + x
    """
    complaints = check(program, tmp_path)
    assert [int(each.split(":")[0]) for each in complaints] == list(range(3, 12))
    assert 'Argument "dim" to "softmax" has incompatible type "str"' in complaints[0]
    assert '"Tensor" has no attribute "softmacks"' in complaints[2]


def test_what_is_declared_late_is_there_from_the_start() -> None:
    """A second name that a late module gives to an early op would appear out of nowhere."""
    program = (
        "import whygrad\n"
        "from whygrad.ops import functions, late\n"
        "early = set(dir(whygrad.Tensor)) | set(dict(functions)) | set(late._home)\n"
        "late.load_all()\n"
        "print(sorted((set(dir(whygrad.Tensor)) | set(dict(functions))) - early))\n"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
