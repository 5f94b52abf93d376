"""«module»"""

# «part_square»

SQUARE = {
    "p": 6,  # x·w
    "u": 7,  # p + b
    "L": 49,  # u²
    "dL/du": 14,  # «why_du»
    "dL/dp": 14,  # «why_dp»
    "dL/dx": 42,  # «why_dx»
    "dL/dw": 28,  # «why_dw»
    "dL/db": 14,  # «why_dp»
}


def square(x, w, b):
    """«square»"""
    u = x * w + b
    du = 2 * u
    return {"dL/dx": du * w, "dL/dw": du * x, "dL/db": du}


# «part_polynomial»

POLYNOMIAL = {
    "y": 12,
    "dy/dx1": 3,  # x2
    "dy/dx2": 3,  # x1
    "dy/dx3": 1,
    "dy/dx": 7,  # 3 + 3 + 1
}


def polynomial(x):
    """«polynomial»"""
    return x + x + 1


# «part_doubled»

DOUBLED = {
    "y": 8,
    "dy/da1": 2,  # a3
    "dy/da2": 2,  # a3
    "dy/da3": 4,  # a1 + a2
    "dy/da": 8,
}


def doubled(a):
    """«doubled»"""
    return a + a + (a + a)


# «part_diamond»

DIAMOND = {
    "e": 10,  # a1·b + c1
    "f": -2,  # a2 - c2
    "L": -20,  # e·f
    "dL/de": -2,  # f
    "dL/df": 10,  # e
    "dL/da1": -6,  # dL/de · b
    "dL/da2": 10,  # dL/df · 1
    "dL/da": 4,
    "dL/db": -4,  # dL/de · a1
    "dL/dc1": -2,  # dL/de · 1
    "dL/dc2": -10,  # dL/df · (-1)
    "dL/dc": -12,
}


def diamond_paths(a, b, c):
    """«diamond_paths»"""
    de = a - c
    df = a * b + c
    return {"dL/da1": de * b, "dL/da2": df, "dL/dc1": de, "dL/dc2": -df}


def diamond(a, b, c):
    """«diamond»"""
    de = a - c
    df = a * b + c
    return {"dL/da": de * b + df, "dL/db": de * a, "dL/dc": de - df}


if __name__ == "__main__":
    # «playground»
    print(square(2, 3, 1))
