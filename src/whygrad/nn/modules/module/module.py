"""Module: a function with state, made of other modules.

Assigning a :class:`Parameter`, a :class:`Buffer` or a module to an attribute registers it, and the
names of attributes along the way are the names in ``named_parameters()`` and ``state_dict()``.
Calling a module calls its ``forward``; without hooks that is all a call does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, TypeVar

from whygrad.errors import describe, fail
from whygrad.nn.modules.module.conversion import Conversion
from whygrad.nn.modules.module.hooks import Hooked, everywhere
from whygrad.nn.modules.module.state import Stateful
from whygrad.nn.modules.module.tree import Tree
from whygrad.nn.parameter import Buffer, Parameter
from whygrad.tensor import Tensor

__all__ = ["InvalidName", "Module"]

M = TypeVar("M", bound="Module")


class InvalidName(KeyError):
    """A name under which nothing can be registered; its text is readable, unlike a KeyError's."""

    __str__ = Exception.__str__


class Module(Tree, Hooked, Stateful, Conversion):
    """The base of every layer and model: subclass it and define ``forward``."""

    __constants__: ClassVar[list[str]] = []  # what PyTorch's compiler may take as fixed
    dump_patches = False  # PyTorch has the name, and no longer a use for it
    training: bool
    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _modules: dict[str, Module | None]
    _non_persistent_buffers_set: set[str]

    call_super_init: bool = False  # whether ``__init__`` goes on to the next base class

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            raise _init_takes_nothing(self, args, kwargs)
        own = self.__dict__
        own["training"] = True
        own["_parameters"] = {}
        own["_buffers"] = {}
        own["_modules"] = {}
        own["_non_persistent_buffers_set"] = set()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes; every subclass has its own."""
        raise fail(
            NotImplementedError,
            call=f"{type(self).__name__}(…)",
            cause=f'Module [{type(self).__name__}] is missing the required "forward" function',
            fix="define def forward(self, …) in the class; mind the spelling and the indentation",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if "_hooks" not in self.__dict__ and not everywhere:
            return self.forward(*args, **kwargs)
        return self._call_with_hooks(args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: a call runs as it is, which gives the same result."""

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if "_modules" not in own:
            if isinstance(value, (Parameter, Module)):
                raise self._not_ready(name, value)
            own[name] = value
        elif isinstance(value, Parameter):
            self._forget(name, besides="_parameters")
            own["_parameters"][name] = value
        elif name in own["_parameters"]:
            if value is not None:
                raise self._wrong_kind(name, value, "_parameters")
            own["_parameters"][name] = None
        elif isinstance(value, Module):
            self._forget(name, besides="_modules")
            own["_modules"][name] = value
        elif name in own["_modules"]:
            if value is not None:
                raise self._wrong_kind(name, value, "_modules")
            own["_modules"][name] = None
        elif isinstance(value, Buffer):
            self.register_buffer(name, value, persistent=value.persistent)
        elif name in own["_buffers"] and (value is None or isinstance(value, Tensor)):
            own["_buffers"][name] = value
        elif name in own["_buffers"]:
            raise self._wrong_kind(name, value, "_buffers")
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for home in ("_parameters", "_modules", "_buffers"):
            if home in own and name in own[home]:
                return own[home][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for home in ("_parameters", "_modules", "_buffers"):
            if name in self.__dict__[home]:
                del self.__dict__[home][name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        registered = (*self._parameters, *self._modules, *self._buffers)
        return sorted({*super().__dir__(), *registered})

    def _forget(self, name: str, besides: str = "") -> None:
        """Whatever stood under ``name`` makes room for a value of another kind."""
        self.__dict__.pop(name, None)
        for home in ("_parameters", "_modules", "_buffers"):
            if home != besides:
                self.__dict__[home].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def _not_ready(self, name: str, value: Any) -> AttributeError:
        kind = "parameters" if isinstance(value, Parameter) else "module"
        return fail(
            AttributeError,
            call=f"self.{name} = {type(value).__name__}(…) in {type(self).__name__}",
            cause=f"cannot assign {kind} before Module.__init__() call",
            fix="begin __init__ with super().__init__()",
        )

    def _wrong_kind(self, name: str, value: Any, home: str) -> TypeError:
        kind, expected, fix = {
            "_parameters": ("parameter", "nn.Parameter", f"assign nn.Parameter(value), or write "
                            f"with whygrad.no_grad(): self.{name}.copy_(value)"),
            "_modules": ("child module", "nn.Module", "give the new attribute another name"),
            "_buffers": ("buffer", "whygrad.Tensor", "convert with whygrad.tensor(value)"),
        }[home]  # fmt: skip
        return fail(
            TypeError,
            call=f"self.{name} = {describe(value)} in {type(self).__name__}",
            cause=f"cannot assign '{type(value).__name__}' as {kind} '{name}' ({expected} or None "
            "expected)",
            fix=fix,
        )

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under ``name``; None reserves the name."""
        self._check_name("parameter", name, self._parameters)
        if param is not None and not isinstance(param, Parameter):
            raise fail(
                TypeError,
                call=f"register_parameter({name!r}, {describe(param)})",
                cause=f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(nn.Parameter or None required)",
                fix="wrap it: nn.Parameter(tensor)",
            )
        if param is not None and not param.is_leaf:
            raise fail(
                ValueError,
                call=f"register_parameter({name!r}, …)",
                cause=f"cannot assign non-leaf Tensor to parameter '{name}': model parameters must "
                "be created explicitly",
                fix="compute it in forward() from the parameters it depends on",
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add state that is not learned; ``persistent`` state is in ``state_dict()``."""
        self._check_name("buffer", name, self._buffers)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise fail(
                TypeError,
                call=f"register_buffer({name!r}, {describe(tensor)})",
                cause=f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(whygrad.Tensor or None required)",
                fix="convert with whygrad.tensor(value)",
            )
        self._buffers[name] = tensor
        (
            self._non_persistent_buffers_set.discard
            if persistent
            else self._non_persistent_buffers_set.add
        )(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a child under ``name``."""
        self._check_name("module", name, self._modules)
        if module is not None and not isinstance(module, Module):
            raise fail(
                TypeError,
                call=f"add_module({name!r}, {describe(module)})",
                cause=f"{type(module).__name__} is not a Module subclass",
                fix="pass an instance of nn.Module",
            )
        self._modules[name] = module

    register_module = add_module

    def _check_name(self, kind: str, name: Any, home: dict[str, Any]) -> None:
        cause: str | None = None
        error: type[Exception] = InvalidName
        if "_modules" not in self.__dict__:
            raise self._not_ready(str(name), self)
        if not isinstance(name, str):
            cause, error = f"{kind} name should be a string. Got {type(name).__name__}", TypeError
        elif "." in name:
            cause = f'{kind} name can\'t contain ".": dots separate levels in state_dict()'
        elif name == "":
            cause = f'{kind} name can\'t be empty string ""'
        elif hasattr(self, name) and name not in home:
            cause = f"attribute '{name}' already exists"
        if cause is not None:
            raise fail(
                error,
                call=f"register_{kind}({name!r}, …) on {type(self).__name__}",
                cause=cause,
                fix="choose another name",
            )

    def train(self: M, mode: bool = True) -> M:
        """Switch layers such as dropout and batch norm to how they behave in training."""
        if not isinstance(mode, bool):
            raise fail(
                ValueError,
                call=f"train({mode!r})",
                cause="training mode is expected to be boolean",
                fix="pass True or False; train() and eval() need no argument",
            )
        for module in self.modules():
            module.training = mode
        return self

    def eval(self: M) -> M:
        """Switch to how layers behave when the model is used."""
        return self.train(False)

    def requires_grad_(self: M, requires_grad: bool = True) -> M:
        """Freeze every parameter, or ask for all their gradients again."""
        for param in self.parameters():
            param.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients, or fill them with zeros."""
        for param in self.parameters():
            if param._grad is None:
                continue
            if set_to_none:
                param.grad = None
            else:
                if param._grad.grad_fn is not None:
                    param._grad.detach_()
                else:
                    param._grad.requires_grad_(False)
                param._grad.zero_()

    def apply(self: M, fn: Callable[[Module], Any]) -> M:
        """Call ``fn`` on every module, children first: for initialisation."""
        for module in reversed(list(_children_first(self))):
            fn(module)
        return self

    def extra_repr(self) -> str:
        """What a subclass wants shown in parentheses."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): {_indented(repr(module))}" for name, module in self._modules.items()
        ]
        if len(lines) == 1 and not children:
            return f"{self._get_name()}({lines[0]})"
        body = "".join(f"\n  {line}" for line in (*lines, *children))
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


def _init_takes_nothing(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> TypeError:
    name = type(module).__name__
    cause = f"{name}.__init__() takes 1 positional argument but {len(args) + 1} were given"
    if kwargs:
        cause = f"{name}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'"
    return fail(
        TypeError,
        call=f"Module.__init__ of {name}",
        cause=cause,
        fix="call super().__init__() without arguments; with call_super_init = True in the class "
        "they go to its next base class",
    )


def _children_first(root: Module) -> Iterator[Module]:
    """Each module before its children, last child first: reversed, children come first."""
    waiting = [root]
    while waiting:
        module = waiting.pop()
        yield module
        waiting.extend(module.children())


def _indented(text: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(f"  {line}" for line in rest)])
