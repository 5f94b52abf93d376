"""What a custom function's class says about its calls; worked out again only if it changes."""

from __future__ import annotations

import inspect
import linecache
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from whygrad.errors import fail
from whygrad.ops.define import Op
from whygrad.source import Where

if TYPE_CHECKING:
    from whygrad.autograd.custom.context import FunctionCtx
    from whygrad.autograd.function import Function

__all__ = ["Signature", "methods_of", "place_of"]

# What a class can say; somebody may put another method on it at any time.
methods_of = attrgetter(
    "forward", "setup_context", "backward", "vjp", "jvp", "vmap", "generate_vmap_rule"
)


class Signature:
    """The methods of a class (None for those it lacks), and the arguments of ``forward``."""

    name: str
    forward: Callable[..., Any] | None
    jvp: Callable[..., Any] | None
    vmap: Callable[..., Any] | None
    runs_on_samples: bool  # inside vmap

    def __init__(self, function: type[Function]) -> None:
        from whygrad.autograd.function import Function

        def own(method: str) -> Callable[..., Any] | None:
            found: Callable[..., Any] = getattr(function, method)
            return None if found is getattr(Function, method) else found

        self.methods = methods_of(function)
        self.name = function.__name__
        self.about = inspect.cleandoc(function.__doc__ or f"{self.name}, a custom function")
        self.forward = own("forward")
        self.jvp = own("jvp")
        self.vmap = own("vmap")
        self.runs_on_samples = function.generate_vmap_rule
        self._setup_context = own("setup_context")
        self._derivatives = [each for each in (own("backward"), own("vjp")) if each is not None]
        self._accepts = inspect.signature(function.forward)
        accepted = list(self._accepts.parameters.values())
        if self._setup_context is None:
            del accepted[:1]  # ctx
        self.parameters = [_bare(each) for each in accepted]
        self._names: dict[tuple[int, tuple[str, ...]], list[str]] = {}
        self._ops: dict[tuple[str, ...], Op] = {}

    def bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments in the order of ``forward``, which is that of the gradients.

        Defaults are filled in if ``setup_context`` will see them, or if a later one is given.
        """
        if self._setup_context is not None:
            bound = self._accepts.bind(*args, **kwargs)
            bound.apply_defaults()
            return bound.args, bound.kwargs
        if not kwargs:
            return args, kwargs
        bound = self._accepts.bind(None, *args, **kwargs)
        given = set(bound.arguments)
        bound.apply_defaults()
        unasked = [name for name in bound.arguments if name not in given]
        positional = list(bound.args[1:])
        for name in reversed(self.parameters[: len(positional)]):
            if name not in unasked:
                break
            positional.pop()
        named = {name: value for name, value in bound.kwargs.items() if name not in unasked}
        return tuple(positional), named

    def run(self, ctx: FunctionCtx, args: Sequence[Any], keywords: tuple[str, ...]) -> Any:
        """What ``forward`` returns; the last arguments are passed by keyword."""
        assert self.forward is not None
        positional = len(args) - len(keywords)
        named = dict(zip(keywords, args[positional:], strict=True))
        if self._setup_context is None:
            return self.forward(ctx, *args[:positional], **named)
        output = self.forward(*args[:positional], **named)
        self._setup_context(ctx, tuple(args), output)
        return output

    @property
    def backward(self) -> Callable[..., Any] | None:
        """The user's ``backward``, under whichever of its two names."""
        return self._derivatives[0] if self._derivatives else None

    def check_backward(self, where: Where) -> None:
        """Raise unless there is exactly one ``backward``."""
        if not self._derivatives:
            raise self.missing(
                "backward(ctx, *grad_outputs)",
                "You must implement either the backward or vjp method for your custom "
                "autograd.Function to use it with backward mode AD",
                where,
            )
        if len(self._derivatives) > 1:
            raise fail(
                RuntimeError,
                call=f"{self.name}Backward, recorded at {where}",
                cause="Implementing both 'backward' and 'vjp' for a custom Function is not "
                "allowed: they are two names of one thing",
                fix="keep one of them",
                where=place_of(self._derivatives[1]),
            )

    def missing(self, method: str, cause: str, where: Where) -> NotImplementedError:
        """The class lacks a method that somebody needs."""
        return fail(
            NotImplementedError,
            call=f"{self.name}.apply({', '.join(self.parameters)}) at {where}",
            cause=cause,
            fix=f"give {self.name} a static method {method}",
            where=None,
        )

    def names(self, count: int, keywords: tuple[str, ...]) -> list[str]:
        """A name for each of ``count`` arguments, of which the last are given by keyword."""
        key = count, keywords
        if key not in self._names:
            self._names[key] = self._named(count, keywords)
        return self._names[key]

    def _named(self, count: int, keywords: tuple[str, ...]) -> list[str]:
        found = [each for each in self.parameters if not each.startswith("**")]
        if found and found[-1].startswith("*"):
            rest = found.pop().lstrip("*")
            found += [f"{rest}[{number}]" for number in range(count - len(found))]
        return [*found[: count - len(keywords)], *keywords]

    def op(self, tensor_names: tuple[str, ...]) -> Op:
        """The function in the shape of an op, for those who look at nodes and calls."""
        op = self._ops.get(tensor_names)
        if op is None:
            assert self.forward is not None
            op = self._ops[tensor_names] = Op(
                self.name, self.about, kind="custom", forward=self.forward, vjp=None,
                differentiable=True, internal=True,
            )  # fmt: skip
            op.tensor_names = tensor_names
            op.node_name = f"{self.name}Backward"
        return op


def _bare(parameter: inspect.Parameter) -> str:
    """``x``, ``*args`` or ``**kwargs``, without annotation and default."""
    empty = inspect.Parameter.empty
    return str(parameter.replace(annotation=empty, default=empty))


def place_of(function: Callable[..., Any] | None) -> Where | None:
    """The line on which one of the user's functions is defined."""
    code = None if function is None else getattr(inspect.unwrap(function), "__code__", None)
    return None if code is None else _Definition(code, 0)


class _Definition(Where):
    """The ``def`` of a function, below its decorators."""

    __slots__ = ()

    def _position(self) -> tuple[int, int | None, int | None]:
        first = self._code.co_firstlineno
        lines = linecache.getlines(self.file)[first - 1 :]
        found = (i for i, line in enumerate(lines) if not line.lstrip().startswith("@"))
        return first + next(found, 0), None, None
