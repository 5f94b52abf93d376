"""The surface of ``whygrad.torch``, and that PyTorch is loaded only for it."""

from __future__ import annotations

import subprocess
import sys

import whygrad.torch


def run(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    return done.stdout + done.stderr


def test_the_surface_is_complete_and_sorted() -> None:
    assert whygrad.torch.__all__ == sorted(whygrad.torch.__all__)
    for name in whygrad.torch.__all__:
        assert getattr(whygrad.torch, name).__doc__


def test_whygrad_does_not_load_pytorch() -> None:
    program = "import sys, whygrad; from whygrad import *; print('torch' in sys.modules)"
    assert run(program) == "False\n"
    assert "torch" not in whygrad.__all__


def test_it_is_there_as_an_attribute() -> None:
    assert run("import whygrad; print(whygrad.torch.explain.__name__)") == "explain\n"


def test_without_pytorch_the_error_says_what_to_install() -> None:
    program = "import sys; sys.modules['torch'] = None; import whygrad; whygrad.torch"
    told = run(program)
    assert "ModuleNotFoundError: import whygrad.torch" in told
    assert "PyTorch is not installed" in told
    assert "pip install 'whygrad[torch]'" in told
