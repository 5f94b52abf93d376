"""The layout of an error, and the line it names."""

from __future__ import annotations

import gc
import os
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from whygrad.errors import fail

THREE = "\n  cause: it\n  fix:   that"


def error(**where: Any) -> str:
    return str(fail(ValueError, call="f(x)", cause="it", fix="that", **where))


def called_inside(number: float) -> float:
    """Called from C code that whygrad's caller runs."""
    return wg.ones(2).view(int(number)).sum().item()


def test_it_names_the_line_that_called() -> None:
    assert error().startswith(f"f(x){THREE}\n  at:    ")
    assert error().endswith('call="f(x)", cause="it", fix="that", **where))')


def test_another_place_or_none_can_be_named() -> None:
    assert error(where="there.py:3") == f"f(x){THREE}\n  at:    there.py:3"
    assert error(where=None) == f"f(x){THREE}"


def test_frames_of_whygrad_are_not_the_users() -> None:
    with pytest.raises(RuntimeError, match=r"at: .*test_errors.py:\d+: wg.nn.Linear"):
        wg.nn.Linear(2, 3)(wg.ones(3))


def test_code_without_a_file_and_without_a_user() -> None:
    names: dict[str, Any] = {"fail": fail}
    exec("error = fail(ValueError, call='c', cause='d', fix='e')", names)
    assert str(names["error"]).endswith("at:    <string>:1")


def test_when_only_whygrad_is_on_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whygrad.source._PACKAGE", "")
    monkeypatch.setattr("whygrad.source.user_files", set())
    monkeypatch.setattr("whygrad.errors.is_outside", lambda frame: False)
    assert error() == f"f(x){THREE}"


def test_in_a_callback_from_c_and_in_a_thread() -> None:
    with pytest.raises(RuntimeError, match=r"at: .*test_errors.py:\d+: return wg.ones"):
        np.vectorize(called_inside)([3.0])
    said: list[str] = []

    def work() -> None:
        try:
            wg.ones(2) @ wg.ones(3)
        except RuntimeError as refusal:
            said.append(str(refusal))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "test_errors.py" in said[0]


def test_it_keeps_no_frame_alive() -> None:
    class Big:
        pass

    def use() -> tuple[ValueError, weakref.ref[Big]]:
        big = Big()
        return fail(ValueError, call="f", cause="c", fix="x"), weakref.ref(big)

    gc.disable()
    try:
        refusal, seen = use()
        assert seen() is None
        assert refusal.__traceback__ is None
    finally:
        gc.enable()


@pytest.mark.skipif(sys.platform == "win32", reason="the working directory cannot be removed there")
def test_without_a_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    os.rmdir(gone)
    assert "test_errors.py" in error()
