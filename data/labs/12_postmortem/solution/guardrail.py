"""«guardrail_module»"""

import math


def guard(step, model, loss):
    """«guard»"""
    assert math.isfinite(loss.item()), f"step {step}: the loss is {loss.item()}"
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, f"step {step}: {name} has no gradient"
        norm = parameter.grad.norm().item()
        assert math.isfinite(norm), f"step {step}: {name}.grad has the norm {norm}"
