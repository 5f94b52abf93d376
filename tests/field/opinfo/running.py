"""One run over ops: which checks, and what they came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Any

import torch

from tests.field.opinfo.checks import NotCompared, check, check_error, check_forward, check_variant
from tests.field.opinfo.judgement import Difference, Judge, Verdicts
from tests.field.opinfo.translation import ours, variants

__all__ = ["Run", "pytorchs_ops"]

PRECISE = (torch.float64, torch.complex128)


def pytorchs_ops() -> list[Any]:
    """What PyTorch's own tests say of its ops; imported when asked for, since it takes seconds."""
    from torch.testing._internal.common_methods_invocations import op_db

    # These files forbid changes of PyTorch's settings; other tests of this process make some.
    torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
    return list(op_db)


class Run:
    """Ops compared in one dtype, with the first ``most`` samples of each."""

    def __init__(self, dtype: torch.dtype, most: int, verbose: bool = False) -> None:
        self.dtype = dtype
        self.most = most
        self.verbose = verbose
        self.ops: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        self.verdicts = Verdicts()

    def agrees(self, info: Any) -> bool:
        """Whether whygrad does the same; differences are printed."""
        function = ours(info)
        if function is None:
            self.ops["not in whygrad"] += 1
            if self.verbose:
                print(f"{info.name}: not here")
            return True
        found: Counter[str] = Counter()
        torch.manual_seed(0)
        before = self.compared.total()
        for text, attempt in self._attempts(info, function):
            try:
                self.compared[attempt()] += 1
            except NotCompared as reason:
                self.compared[f"not compared: {reason}"] += 1
            except Difference as difference:
                self.compared["DIFFERENT"] += 1
                found[str(difference)] += 1
                if self.verbose:
                    print(f"  {text[:600]}\n  -> {difference}")
        name = f"{info.name}.{info.variant_test_name}" if info.variant_test_name else info.name
        for text, times in found.most_common(3):
            print(f"{name} {self.dtype} {times}×: {text}", flush=True)
        if self.compared.total() == before:
            self.ops["without a sample of this dtype"] += 1
        else:
            self.ops["that differ" if found else "clean"] += 1
        return not found

    def _attempts(self, info: Any, function: Any) -> Iterator[tuple[str, Any]]:
        """Checks to run, each with a text of its call."""
        judge = Judge(info.name, self.dtype, self.verdicts)
        gradient = info.supports_autograd and (
            self.dtype.is_floating_point or self.dtype.is_complex
        )
        precise = self.dtype in PRECISE
        if self.dtype in info.supported_dtypes("cpu"):
            samples = info.sample_inputs("cpu", self.dtype, requires_grad=gradient)
            for sample in islice(samples, self.most):
                text = repr(sample)
                yield text, partial(check, judge, info, function, sample, precise)
                for variant in variants(info):
                    if variant[0] == "method" or not sample.broadcasts_input:
                        yield text, partial(check_variant, judge, info, variant, sample)
                if info.supports_forward_ad and precise:
                    yield text, partial(check_forward, judge, info, function, sample)
        if info.error_inputs_func is not None and self.dtype is torch.float64:
            for each in islice(info.error_inputs("cpu"), self.most):
                yield repr(each.sample_input), partial(check_error, judge, function, each)

    def summary(self) -> str:
        lines = [f"{count:7} ops {what}" for what, count in self.ops.most_common()]
        lines += [f"{count:7} {what}" for what, count in self.compared.most_common()]
        reasons: Counter[str] = Counter()
        for (_, _, reason), count in self.verdicts.excused.items():
            reasons[reason] += count
        lines += [f"{count:7} on purpose: {reason}" for reason, count in reasons.most_common()]
        return "\n".join(lines)
