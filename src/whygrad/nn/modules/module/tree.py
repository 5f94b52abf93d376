"""What a module consists of: children, parameters and buffers, with the paths that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from whygrad.errors import describe, fail
from whygrad.nn.parameter import Parameter
from whygrad.tensor import Tensor

if TYPE_CHECKING:
    from whygrad.nn.modules.module.module import Module

__all__ = ["Tree"]


class Tree:
    """The part of ``Module`` that looks around."""

    def named_modules(
        self: Any, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and every one below it, parents first."""
        seen = set() if memo is None else memo
        waiting: list[tuple[str, Module]] = [(prefix, self)]
        while waiting:
            path, module = waiting.pop()
            if remove_duplicate:
                if module in seen:
                    continue
                seen.add(module)
            yield path, module
            dot = f"{path}." if path else ""
            children = [(dot + name, each) for name, each in module._modules.items()]
            waiting += [(path, each) for path, each in reversed(children) if each is not None]

    def modules(self) -> Iterator[Module]:
        return (module for _, module in self.named_modules())

    def named_children(self: Any) -> Iterator[tuple[str, Module]]:
        """The modules directly below, each once."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        return (module for _, module in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with the path that leads to them; one used in several places counts once."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        return (param for _, param in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with the path that leads to them."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named(
        self, home: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = (
            self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
            if recurse
            else [(prefix, self)]
        )
        for path, module in modules:
            dot = f"{path}." if path else ""
            for name, tensor in module.__dict__[home].items():
                if tensor is None or (remove_duplicate and tensor in seen):
                    continue
                seen.add(tensor)
                yield dot + name, tensor

    def get_submodule(self, target: str) -> Module:
        """The module at a path such as ``"encoder.0"``."""
        module: Any = self
        for name in target.split(".") if target else ():
            found = getattr(module, name, None)
            if not isinstance(found, Tree):
                what = "has no attribute" if found is None else "has something else than a module,"
                raise AttributeError(f"{type(module).__name__} {what} `{name}` (of {target!r})")
            module = found
        found_module: Module = module
        return found_module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a path; ``strict`` refuses a path that leads to nothing so far."""
        cause = None
        if not target:
            cause = "Cannot set the submodule without a target name!"
        elif not isinstance(module, Tree):
            cause = f"`module` is not an nn.Module, found {type(module)}"
        if cause is not None:
            raise fail(
                ValueError,
                call=f"set_submodule({target!r}, {describe(module)})",
                cause=cause,
                fix='name the place, as in set_submodule("encoder.0", nn.Identity())',
            )
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict or hasattr(parent, name):
            parent.get_submodule(name)
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as ``"encoder.0.weight"``."""
        return self._get(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as ``"norm.running_mean"``."""
        return self._get(target, "_buffers", "a buffer")

    def _get(self, target: str, home: str, kind: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if name not in module.__dict__[home]:
            what = "is not " + kind if hasattr(module, name) else "is not an attribute"
            raise AttributeError(f"`{name}` {what} of {type(module).__name__} (of {target!r})")
        return module.__dict__[home][name]
