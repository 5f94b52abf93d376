"""«guardrail_module»"""


def guard(step, model, loss):
    """«guard»"""
