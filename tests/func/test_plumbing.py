"""functionalize, debug_unwrap and replace_all_batch_norm_modules_, against PyTorch."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import whygrad


def test_functionalize_does_what_the_function_does() -> None:
    for library in (whygrad, torch):
        x = library.zeros(2)
        for remove in ("mutations", "mutations_and_views"):
            same = library.func.functionalize(lambda x: x.view(-1).add_(1) * 2, remove=remove)
            result = same(x)
        assert result.tolist() == [4.0, 4.0]
        assert x.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="Valid options are"):
        whygrad.func.functionalize(lambda x: x, remove="views")  # type: ignore[arg-type]


def test_debug_unwrap_shows_what_is_inside() -> None:
    for library in (whygrad, torch):
        unwrap = library.func.debug_unwrap
        batch = library.tensor([[1.0, 2.0], [3.0, 4.0]])
        assert unwrap(batch) is batch
        seen: list[Any] = []

        def look(x: Any, unwrap: Any = unwrap, seen: list[Any] = seen) -> Any:
            seen.extend((unwrap(x), unwrap(x, recurse=False)))
            return x.sum()

        library.func.vmap(look)(batch)
        library.func.grad(look)(batch[0])
        assert [each.tolist() for each in seen] == [batch.tolist()] * 2 + [[1.0, 2.0]] * 2
        assert not any(each.requires_grad for each in seen)


def test_batch_norms_without_statistics_work_under_vmap() -> None:
    results = []
    for library in (whygrad, torch):
        nn = library.nn
        model = nn.Sequential(nn.BatchNorm1d(2), nn.Sequential(nn.BatchNorm1d(2)))
        assert library.func.replace_all_batch_norm_modules_(model) is model
        layer = model[1][0]
        assert layer.running_mean is layer.running_var is layer.num_batches_tracked is None
        assert not layer.track_running_stats
        batches = library.tensor([[[1.0, 2.0], [3.0, 5.0]], [[0.0, 1.0], [4.0, 7.0]]])
        results.append(library.func.vmap(model)(batches).tolist())
    torch.testing.assert_close(*map(torch.tensor, results))


def test_switches_have_their_module() -> None:
    for library in (whygrad, torch):
        mode = library.autograd.grad_mode
        with mode.set_multithreading_enabled(False), mode.no_grad():
            assert not library.is_grad_enabled()
        library.autograd.set_multithreading_enabled(True)
        assert mode.no_grad is library.no_grad
