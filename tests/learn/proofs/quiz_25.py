"""Proofs of the quiz about PyTorch's internals: what both libraries do is asked of both."""

from __future__ import annotations

import contextlib
import gc
import itertools
import warnings
import weakref
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
import torch.utils.checkpoint
from torch.utils._python_dispatch import TorchDispatchMode

import whygrad
from tests.learn.programs import changed_lines, names, printed, question
from tests.learn.proofs import proves

LIBRARIES: tuple[ModuleType, ...] = (torch, whygrad)
MODIFIED = "modified by an inplace operation"


def in_pytorch(program: str) -> str:
    """The same program with the other library."""
    return program.replace("import whygrad as wg", "import torch as wg")


def share_memory(library: ModuleType, one: Any, other: Any) -> bool:
    """Whether two tensors of a library lie over the same memory."""
    arrays = (each.detach().numpy() for each in (one, other))
    return np.shares_memory(*arrays)


def keys(tensor: torch.Tensor) -> str:
    """PyTorch's dispatch keys of a tensor."""
    return str(torch._C._dispatch_keys(tensor))


def _square(library: ModuleType, *, as_attribute: bool) -> Any:
    """A custom square that keeps its input on ``ctx``, or saves it properly."""

    class Square(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            if as_attribute:
                ctx.x = x
            else:
                ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            return 2 * (ctx.x if as_attribute else ctx.saved_tensors[0]) * incoming

    return Square


@proves("q-25-01")
def residual_written_in_place() -> None:
    for library in LIBRARIES:
        library.manual_seed(0)
        embed, attention = library.nn.Linear(4, 4), library.nn.Linear(4, 4)
        norm = library.nn.LayerNorm(4)
        h = embed(library.arange(8.0).view(2, 4))
        residual = h + attention(norm(h))
        h.add_(attention(norm(h)))
        assert h.tolist() == residual.tolist()
        with pytest.raises(RuntimeError, match=MODIFIED):
            h.sum().backward()
        leaf = library.ones(2, requires_grad=True)
        for write in (lambda leaf=leaf: leaf.add_(1), lambda leaf=leaf: leaf[1:].add_(1)):
            with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
                write()


@proves("q-25-01", "q-25-16")
def an_attribute_of_ctx_is_not_compared_in_pytorch() -> None:
    for library, as_attribute in itertools.product(LIBRARIES, (False, True)):
        w = library.tensor([3.0], requires_grad=True)
        h = w * 1
        y = _square(library, as_attribute=as_attribute).apply(h)
        h.mul_(10)
        if library is torch and as_attribute:
            y.backward()
            assert w.grad.item() == 60  # the derivative is 6
        else:
            with pytest.raises(RuntimeError, match=MODIFIED):
                y.backward()


@proves("q-25-02")
def views_and_copies() -> None:
    for library in LIBRARIES:
        x = library.arange(6.0).view(2, 3)
        turned = x.t()
        assert x.is_contiguous()
        assert not turned.is_contiguous()
        assert share_memory(library, x, x.reshape(-1))
        assert x.reshape(-1) is not x
        copies = (
            turned.contiguous(),
            x.clone(),
            x.to(library.float16),
            turned.reshape(-1),
        )
        assert not any(share_memory(library, x, copy) for copy in copies)
        assert x.contiguous() is x
        assert x.to(library.float32) is x
        assert x.data_ptr() == x.reshape(-1).data_ptr()
        assert turned.data_ptr() != turned.contiguous().data_ptr()
        with pytest.raises(RuntimeError):
            turned.view(-1)


@proves("q-25-03")
def the_tape_grows_with_the_program() -> None:
    for library in LIBRARIES:
        x = library.tensor(1.0, requires_grad=True)
        lengths = []
        for turns in (1, 3):
            y = x
            for _ in range(turns):
                y = y.sin()
            node, length = y.grad_fn, 0
            while node.next_functions:
                node, length = node.next_functions[0][0], length + 1
            lengths.append(length)
        assert lengths == [1, 3]


@proves("q-25-03")
def backward_runs_a_node_after_all_that_use_its_result() -> None:
    for library in LIBRARIES:
        a, b, c = (library.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
        product = a * b
        total = product + c
        difference = a - c
        loss = total * difference
        order: list[str] = []
        for name, result in {"p": product, "t": total, "d": difference, "l": loss}.items():
            result.grad_fn.register_prehook(lambda _, name=name, order=order: order.append(name))
        loss.backward()
        assert order == ["l", "d", "t", "p"]
        assert (a.grad.item(), b.grad.item(), c.grad.item()) == (4, -4, -12)


@proves("q-25-04")
def what_nodes_save() -> None:
    a, b = (whygrad.rand(3).requires_grad_() for _ in range(2))
    gelu = whygrad.nn.functional.gelu
    results = (a + b, a * b, a.softmax(0), gelu(a), a.tanh(), a.exp())
    kept = [
        [name for name, value in result.grad_fn.saved.items() if isinstance(value, np.ndarray)]
        for result in results
    ]
    assert kept == [[], ["a", "b"], ["y"], ["x"], ["y"], ["y"]]
    assert "a" not in (a * whygrad.rand(3)).grad_fn.saved


@proves("q-25-04")
def what_nodes_of_pytorch_save() -> None:
    a, b = (torch.rand(3, requires_grad=True) for _ in range(2))
    gelu = torch.nn.functional.gelu

    def kept(result: torch.Tensor) -> list[str]:
        node = result.grad_fn
        names = [name for name in dir(node) if name.startswith("_saved_")]
        return [name for name in names if isinstance(getattr(node, name), torch.Tensor)]

    assert kept(a + b) == []
    assert kept(a * b) == ["_saved_other", "_saved_self"]
    assert kept(gelu(a)) == ["_saved_self"]
    assert kept(a.softmax(0)) == kept(a.tanh()) == kept(a.exp()) == ["_saved_result"]
    assert kept(a * torch.rand(3)) == ["_saved_other"]


@proves("q-25-05")
def what_is_a_key_in_pytorch() -> None:
    plain = torch.ones(2, 2)
    assert keys(plain) == keys(plain.double()) == keys(plain.long())
    known = {name.lower() for name in torch._C.DispatchKey.__members__}
    assert not known & {"float", "double", "long", "float32", "float64", "int64", "half"}
    assert {"cpu", "cuda", "meta", "sparsecpu", "autogradcpu"} <= known
    assert "Meta" in keys(plain.to("meta"))
    assert "SparseCPU" in keys(plain.to_sparse())
    assert "SparseCPU" not in keys(plain)
    with torch.no_grad():
        assert "AutogradCPU" in keys(torch.ones(2))
        assert not (torch.ones(2, requires_grad=True) * 2).requires_grad
    with torch.inference_mode():
        assert "Autograd" not in keys(torch.ones(2))
    assert (plain + plain.long()).dtype == torch.float32


@proves("q-25-05")
def what_is_a_key_in_whygrad() -> None:
    plain = whygrad.ones(2, 2)
    explain = whygrad.dispatch.explain

    def keys_of(tensor: whygrad.Tensor) -> set[str]:
        return set(explain(whygrad.add, tensor, tensor).keys)

    assert keys_of(plain) == {"float32", "cpu", "strided"}
    assert keys_of(plain.double()) == {"float64", "cpu", "strided"}
    assert keys_of(plain.to("meta")) == {"float32", "meta", "strided"}
    assert keys_of(plain.clone().requires_grad_()) == {"float32", "cpu", "strided", "autograd"}
    assert keys_of(plain.to_sparse()) - keys_of(plain) == {"sparse_coo"}


@proves("q-25-06", "q-25-11", "q-25-12")
def pytorch_prints_the_same() -> None:
    for name in ("q-25-06", "q-25-11", "q-25-12"):
        program = question(name).code
        assert in_pytorch(program) != program
        assert printed(in_pytorch(program)) == printed(program)


@proves("q-25-07")
def a_write_through_data() -> None:
    program = question("q-25-07").code
    assert printed(program) == "[200.0, 400.0]"
    assert printed(program.replace("w.data.mul_(100)", "")) == "[2.0, 4.0]"
    with pytest.raises(RuntimeError, match=MODIFIED):
        printed(program.replace("w.data", "w.detach()"))
    with pytest.raises(RuntimeError, match=MODIFIED):
        printed(program.replace("w.data.mul_(100)", "torch.no_grad()(w.mul_)(100)"))
    with pytest.raises(RuntimeError, match=MODIFIED):
        printed(program.replace("torch", "whygrad"))


@proves("q-25-08")
def what_detach_shares() -> None:
    for library in LIBRARIES:
        w = library.tensor([1.0, 2.0], requires_grad=True)
        h = w * 3
        node = h.grad_fn
        d = h.detach()
        assert share_memory(library, d, h)
        assert not share_memory(library, h.detach().clone(), h)
        assert d.grad_fn is None
        assert not d.requires_grad
        assert h.grad_fn is node
        loss = (h * h).sum()
        d.mul_(2)
        assert h.tolist() == [6, 12]
        assert h._version == d._version == 1
        with pytest.raises(RuntimeError, match=MODIFIED):
            loss.backward()
        h.detach_()
        assert h.grad_fn is None
        other = library.tensor([1.0, 1.0], requires_grad=True)
        ((w * 3).detach() * other).sum().backward()
        assert w.grad is None
        assert other.grad.tolist() == [3, 6]


@proves("q-25-09")
def edges_in_pytorch() -> None:
    own, theirs = (printed(change(question("q-25-09").code)) for change in (str, in_pytorch))
    assert theirs == own.replace("AccumulateGrad", "torch::autograd::AccumulateGrad")
    for library in LIBRARIES:
        assert library.ones(1, requires_grad=True).grad_fn is None


@proves("q-25-10")
def only_leaves_keep_their_gradient() -> None:
    for library in LIBRARIES:
        x = library.ones(2, 2)
        w = library.ones(2, 2, requires_grad=True)

        def hidden(library: ModuleType = library, x: Any = x, w: Any = w) -> Any:
            return library.tanh(x @ w)

        h = hidden()
        assert h.requires_grad
        h.sum().backward(retain_graph=True)
        assert w.grad is not None
        with pytest.warns(UserWarning, match="not a leaf"):
            assert h.grad is None
        h = hidden()
        h.retain_grad()
        seen: list[Any] = []
        h.register_hook(lambda gradient, seen=seen: seen.append(gradient.tolist()))
        h.sum().backward()
        h = hidden()
        (asked,) = library.autograd.grad(h.sum(), h)
        assert seen == [asked.tolist()] == [[[1, 1], [1, 1]]]
    h = whygrad.tanh(whygrad.ones(2, requires_grad=True))
    assert whygrad.why_none(h, h.sum()).cause == "not retained"


@proves("q-25-12")
def an_expanded_tensor_cannot_be_added_to_and_its_gradient_is_a_sum() -> None:
    for library in LIBRARIES:
        row = library.ones(1, 3, requires_grad=True)
        wide = (row * 1).expand(4, 3)
        assert wide.stride() == (0, 1)
        with pytest.raises(RuntimeError, match="single memory location"):
            wide.add_(1)
        wide.sum().backward()
        assert row.grad.tolist() == [[4, 4, 4]]
        filled = library.ones(1, 3).expand(4, 3).zero_()  # the same number everywhere: allowed
        assert filled.sum().item() == 0


@proves("q-25-13")
def hooks_run_in_this_order() -> None:
    for library in LIBRARIES:
        for registered in itertools.permutations(range(5)):
            assert _hook_order(library, registered) == [1, 2, 3, 4, (5, None), (6, 18.0)]


def _hook_order(library: ModuleType, registered: tuple[int, ...]) -> list[Any]:
    """What happened, in order: numbers of the steps, and what ``w.grad`` held at the leaf's."""
    happened: list[Any] = []

    class Triple(library.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 3

        @staticmethod
        def backward(ctx: Any, incoming: Any) -> Any:
            happened.append(3)
            return incoming * 3

    def note(event: Any) -> None:
        happened.append(event)

    w = library.tensor([1.0], requires_grad=True)
    h = Triple.apply(w)
    loss = (h * h).sum()
    register = [
        lambda: h.register_hook(lambda _: note(1)),
        lambda: h.grad_fn.register_prehook(lambda _: note(2)),
        lambda: h.grad_fn.register_hook(lambda *_: note(4)),
        lambda: w.register_hook(lambda _: note((5, w.grad))),
        lambda: w.register_post_accumulate_grad_hook(lambda w: note((6, w.grad.item()))),
    ]
    for index in registered:
        register[index]()
    loss.backward()
    return happened


@proves("q-25-13")
def a_hook_of_a_leaf_may_replace_the_gradient() -> None:
    for library in LIBRARIES:
        w = library.tensor([1.0], requires_grad=True)
        w.register_hook(lambda gradient: gradient * 10)
        (w * 3).backward()
        assert w.grad.item() == 30


@proves("q-25-14")
def a_backward_that_ignores_what_comes_in() -> None:
    asked = question("q-25-14")
    assert changed_lines(asked) == asked.lines
    for change in (str, in_pytorch):
        assert printed(change(asked.code)) == "[3.0, 12.0]"
        assert printed(change(asked.fix)) == "[1.5, 6.0]"
        undivided = asked.code.replace(" / 2", "")
        assert printed(change(undivided)) == printed(change(asked.fix.replace(" / 2", "")))
    for program, right in ((asked.code, False), (asked.fix, True)):
        x = whygrad.tensor([1.0, 2.0], dtype=whygrad.float64, requires_grad=True)
        cube = names(program)["Cube"].apply
        assert whygrad.autograd.gradcheck(cube, x, raise_exception=False) is right
        assert whygrad.doctor.check_backward(cube, x).ok is right


@proves("q-25-15")
def inference_tensors_cannot_be_saved() -> None:
    for library in LIBRARIES:
        parameter = library.ones(2, requires_grad=True)
        with library.no_grad():
            plain = parameter * 2
        with library.inference_mode():
            inference = parameter * 2
        assert not plain.requires_grad
        assert not inference.requires_grad
        assert plain.grad_fn is inference.grad_fn is None
        assert plain._version == 0
        with pytest.raises(RuntimeError, match="do not track version counter"):
            _ = inference._version
        (parameter * plain).sum().backward()
        assert parameter.grad.tolist() == [2, 2]
        with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
            parameter * inference
        assert (parameter + inference).tolist() == [3, 3]
        (parameter * inference.clone()).sum().backward()
        assert parameter.grad.tolist() == [4, 4]


@proves("q-25-16")
def hooks_on_saved_tensors_pass_an_attribute_by() -> None:
    packed = {}
    for library, as_attribute in itertools.product(LIBRARIES, (False, True)):
        seen: list[Any] = []
        x = library.tensor([3.0], requires_grad=True)
        with library.autograd.graph.saved_tensors_hooks(
            lambda tensor, seen=seen: seen.append(tensor) or tensor.clone(), lambda packed: packed
        ):
            _square(library, as_attribute=as_attribute).apply(x)
        packed[library.__name__, as_attribute] = len(seen)
    assert packed == {
        ("torch", False): 1,
        ("torch", True): 0,
        ("whygrad", False): 1,
        ("whygrad", True): 1,
    }


@proves("q-25-16")
def an_output_on_ctx_is_a_cycle_in_pytorch() -> None:
    alive = {}
    for library, as_attribute in itertools.product(LIBRARIES, (False, True)):

        class Exponential(library.autograd.Function):
            attribute = as_attribute

            @classmethod
            def forward(cls, ctx: Any, x: Any) -> Any:
                y = x.exp()
                if cls.attribute:
                    ctx.y = y
                else:
                    ctx.save_for_backward(y)
                return y

        x = library.ones(1, requires_grad=True)
        gc.collect()
        gc.disable()
        try:
            y = Exponential.apply(x)
            reference = weakref.ref(y)
            del y
            alive[library.__name__, as_attribute] = reference() is not None
        finally:
            gc.enable()
        gc.collect()
        assert reference() is None
    assert [key for key, value in alive.items() if value] == [("torch", True)]


@proves("q-25-16")
def save_for_backward_takes_tensors_only() -> None:
    for library in LIBRARIES:

        class Scaled(library.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, factor: float) -> Any:
                ctx.save_for_backward(x, factor)
                return x * factor

        with pytest.raises(TypeError, match="can only save variables"):
            Scaled.apply(library.ones(1, requires_grad=True), 3.0)


@proves("q-25-17")
def gradient_penalty() -> None:
    asked = question("q-25-17")
    for library in ("torch", "whygrad"):
        program = asked.code.replace("torch", library) + "print(g.item(), w.grad.item())\n"
        assert printed(program) == f"12.0 {asked.answer:.1f}"
        with pytest.raises(RuntimeError, match="does not require grad"):
            printed(program.replace(", create_graph=True", ""))


class _Counting(TorchDispatchMode):
    """Counts the calls of each operation."""

    def __init__(self) -> None:
        super().__init__()
        self.called: list[str] = []

    def __torch_dispatch__(
        self, operation: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.called.append(operation.overloadpacket.__name__)
        return operation(*args, **(kwargs or {}))


@proves("q-25-18")
def anomaly_mode_works_at_every_operation() -> None:
    """The cost is timed nowhere in the tests; what causes it is counted."""
    counted = {}
    for on in (False, True):
        x = torch.ones(3, requires_grad=True)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Anomaly Detection has been enabled")
            with torch.autograd.set_detect_anomaly(on), _Counting() as counting:
                y = x.exp().sin().sum()
                forward = len(counting.called)
                traced = "traceback_" in y.grad_fn.metadata
                y.backward()
        backward = counting.called[forward:]
        counted[on] = (traced, backward.count("isnan"), backward.count("_local_scalar_dense"))
    assert counted == {False: (False, 0, 0), True: (True, 3, 3)}


@proves("q-25-18")
def infinity_passes_in_pytorch_only() -> None:
    for library in LIBRARIES:
        x = library.zeros(1, requires_grad=True)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Anomaly Detection has been enabled")
            with library.autograd.detect_anomaly():
                with pytest.raises(RuntimeError, match="nan values"):
                    (x.sqrt() * 0).backward()
                refused = pytest.raises(RuntimeError, match="inf values")
                with contextlib.nullcontext() if library is torch else refused:
                    x.sqrt().backward()
        assert (x.grad is not None) is (library is torch)


@proves("q-25-19")
def each_block_runs_twice() -> None:
    for library in LIBRARIES:
        weight = library.eye(2).requires_grad_()
        calls = 0

        def block(h: Any, weight: Any = weight) -> Any:
            nonlocal calls
            calls += 1
            return (h @ weight).tanh()

        gradients = []
        for checkpointed in (False, True):
            calls = 0
            h = library.ones(2, 2)
            for _ in range(12):
                if checkpointed:
                    h = library.utils.checkpoint.checkpoint(block, h, use_reentrant=False)
                else:
                    h = block(h)
            assert calls == 12
            (gradient,) = library.autograd.grad(h.sum(), weight)
            gradients.append(gradient.tolist())
            assert calls == (question("q-25-19").answer if checkpointed else 12)
        assert gradients[0] == gradients[1]


@proves("q-25-20")
def none_is_skipped_and_zero_is_not() -> None:
    for library, to_none in itertools.product(LIBRARIES, (True, False)):
        head = library.tensor([1.0], requires_grad=True)
        optimizers = {
            "momentum": library.optim.SGD([head], lr=0.1, momentum=0.9),
            "adam": library.optim.Adam([head], lr=0.1),
            "decay": library.optim.SGD([head], lr=0.1, weight_decay=0.1),
            "plain": library.optim.SGD([head], lr=0.1),
        }
        moved = set()
        for name, optimizer in optimizers.items():
            optimizer.zero_grad()
            head.sum().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=to_none)
            assert (head.grad is None) is to_none
            assert to_none or head.grad.item() == 0
            before = head.item()
            optimizer.step()
            if head.item() != before:
                moved.add(name)
        assert moved == (set() if to_none else {"momentum", "adam", "decay"})
        optimizers["plain"].zero_grad()
        assert head.grad is None
        head.sum().backward()
        assert head.grad.item() == 1


@proves("q-25-21")
def float16_loses_what_is_small() -> None:
    for library in LIBRARIES:
        found = []
        for scale in (1.0, 1024.0):
            w = library.ones(1, dtype=library.float16, requires_grad=True)
            loss = (w * 1e-4 * 1e-4).sum()
            loss.backward(library.tensor(scale, dtype=library.float16))
            found.append(w.grad.float().item() / scale)
        assert found[0] == 0
        assert found[1] == pytest.approx(1e-8, rel=0.01)
        smallest = library.tensor(2.0**-24).to(library.float16)
        assert smallest.item() == 2.0**-24 == pytest.approx(6e-8, rel=0.01)
        assert library.tensor(0.49 * 2.0**-24).to(library.float16).item() == 0
        assert library.finfo(library.float16).max == 65504
        cut = library.ones(1, requires_grad=True)
        (cut.detach() * library.ones(1, requires_grad=True)).sum().backward()
        assert cut.grad is None


@proves("q-25-22")
def a_list_of_indices_copies() -> None:
    asked = question("q-25-22")
    assert changed_lines(asked) == asked.lines
    assigned = asked.code.replace(
        "    rows = weight[[0, 1]]\n    rows.zero_()", "    weight[[0, 1]] = 0"
    )
    for change in (str, in_pytorch):
        assert printed(change(asked.code)) == "9.0"
        assert printed(change(asked.fix)) == "3.0"
        assert printed(change(assigned)) == "3.0"
        with pytest.raises(RuntimeError, match="leaf Variable"):
            printed(change(asked.fix.replace("wg.no_grad()", "wg.enable_grad()")))


@proves("q-25-23")
def pytorch_records_no_cast() -> None:
    w = torch.tensor([0.5, 1.5], requires_grad=True)
    integers = torch.tensor([2, 4])
    with _Counting() as below_autograd:
        product = w * integers
    assert below_autograd.called == ["mul"]  # the promotion is inside
    assert product.grad_fn.name() == "MulBackward0"


@proves("q-25-24")
def a_backward_inside_a_backward() -> None:
    for library in LIBRARIES:
        order: list[str] = []

        class Recomputed(library.autograd.Function):
            library_ = library
            order_ = order

            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                ctx.save_for_backward(x)
                return x * x

            @classmethod
            def backward(cls, ctx: Any, incoming: Any) -> Any:
                cls.order_.append("begins")
                again = ctx.saved_tensors[0].detach().requires_grad_()
                assert not (again * again).requires_grad
                with cls.library_.enable_grad():
                    result = again * again
                result.grad_fn.register_hook(lambda *_: cls.order_.append("inner"))
                cls.library_.autograd.backward(result, incoming)
                cls.order_.append("ends")
                return again.grad

        x = library.tensor([3.0], requires_grad=True)
        h = x * 1
        h.grad_fn.register_hook(lambda *_, order=order: order.append("outer goes on"))
        Recomputed.apply(h).backward()
        assert order == ["begins", "inner", "ends", "outer goes on"]
        assert x.grad.item() == 6


@proves("q-25-24")
def pytorchs_reentrant_checkpoint_calls_backward_inside_backward() -> None:
    x = torch.tensor([3.0], requires_grad=True)
    depth: list[int] = []

    def square(h: torch.Tensor) -> torch.Tensor:
        result = h * h
        if torch.is_grad_enabled():
            result.grad_fn.register_hook(lambda *_: depth.append(1))
        return result

    torch.utils.checkpoint.checkpoint(square, x, use_reentrant=True).backward()
    assert x.grad.item() == 6
    assert depth == [1]
