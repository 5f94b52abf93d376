"""«module»"""

# «part_square»

SQUARE = {
    "p": None,  # x·w
    "u": None,  # p + b
    "L": None,  # u²
    "dL/du": None,
    "dL/dp": None,
    "dL/dx": None,
    "dL/dw": None,
    "dL/db": None,
}


def square(x, w, b):
    """«square»"""
    raise NotImplementedError("square")


# «part_polynomial»

POLYNOMIAL = {
    "y": None,
    "dy/dx1": None,
    "dy/dx2": None,
    "dy/dx3": None,
    "dy/dx": None,
}


def polynomial(x):
    """«polynomial»"""
    raise NotImplementedError("polynomial")


# «part_doubled»

DOUBLED = {
    "y": None,
    "dy/da1": None,
    "dy/da2": None,
    "dy/da3": None,
    "dy/da": None,
}


def doubled(a):
    """«doubled»"""
    raise NotImplementedError("doubled")


# «part_diamond»

DIAMOND = {
    "e": None,  # a1·b + c1
    "f": None,  # a2 - c2
    "L": None,  # e·f
    "dL/de": None,
    "dL/df": None,
    "dL/da1": None,
    "dL/da2": None,
    "dL/da": None,
    "dL/db": None,
    "dL/dc1": None,
    "dL/dc2": None,
    "dL/dc": None,
}


def diamond_paths(a, b, c):
    """«diamond_paths»"""
    raise NotImplementedError("diamond_paths")


def diamond(a, b, c):
    """«diamond»"""
    raise NotImplementedError("diamond")


if __name__ == "__main__":
    # «playground»
    print(square(2, 3, 1))
