"""Functions of functions, as in ``torch.func``."""

from whygrad.autograd.transforms.vmap import vmap
from whygrad.func.forward import hvp, jvp
from whygrad.func.jacobians import hessian, jacfwd, jacrev
from whygrad.func.modules import functional_call, stack_module_state
from whygrad.func.plumbing import (
    debug_unwrap,
    functionalize,
    replace_all_batch_norm_modules_,
)
from whygrad.func.reverse import grad, grad_and_value, linearize, vjp

__all__ = [
    "debug_unwrap",
    "functional_call",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
