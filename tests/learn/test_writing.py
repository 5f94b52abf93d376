"""Files that a learner has named: whole or as before, and errors that name them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from whygrad.learn.writing import write


def test_a_file_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "deck.tsv"
    target.write_bytes(b"a longer text that was there before")
    write(target, b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("name", ["folder", "nowhere/deck.tsv", "file/deck.tsv"])
def test_an_error_names_the_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OSError, match=r"directory") as caught:
        write(tmp_path / name, b"new")
    assert caught.value.filename == str(tmp_path / name)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.skipif(os.name != "posix", reason="there are no named pipes there")
def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"new")
    reader.join(20)
    assert received == [b"new"]
    assert pipe.is_fifo()
