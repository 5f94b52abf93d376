"""«module»

«module_more»
"""

import math

REFUSED = "error at the write"  # «refused»
STOPPED = "error in backward"  # «stopped»


def program_1(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h * h
    h += 1
    y.backward()
    """
    raise NotImplementedError("program_1")


def program_2(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h + h
    h += 1
    y.backward()
    """
    raise NotImplementedError("program_2")


def program_3(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    y = x * k
    x += 1
    y.backward()
    """
    raise NotImplementedError("program_3")


def program_4(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    y = x * x
    with wg.no_grad():
        x -= k * x
    y.backward()
    """
    raise NotImplementedError("program_4")


def program_5(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h.exp()
    h += 1
    y.backward()
    """
    raise NotImplementedError("program_5")


def program_6(a, k):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h.exp()
    y += 1
    y.backward()
    """
    raise NotImplementedError("program_6")


def program_7(a, b, k):
    """
    x = wg.tensor([a, b], requires_grad=True)
    h = x * k
    h[0].copy_(x[1])
    y = (h * h).sum()
    y.backward()
    """
    raise NotImplementedError("program_7")


def program_8(a, b, k):
    """
    x = wg.tensor([a, b], requires_grad=True)
    h = x * k
    y = (h[:1] * h[:1]).sum()
    h.detach()[1:].zero_()
    y.backward()
    """
    raise NotImplementedError("program_8")


def program_9(a, k, c):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    h.data.mul_(c)
    y = h * h
    y.backward()
    """
    raise NotImplementedError("program_9")


def program_10(a, k, c):
    """
    x = wg.tensor(a, requires_grad=True)
    h = x * k
    y = h * h
    h.data.mul_(c)
    y.backward()
    """
    # «two_engines»
    raise NotImplementedError("program_10")


# «silent»
SILENT = []
