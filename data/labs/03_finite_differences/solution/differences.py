"""«module»"""

from whygrad import Value  # «own_value»


def log_sigmoid(x):
    """«log_sigmoid»"""
    return x.sigmoid().log()


def centred_difference(f, x, epsilon=1e-5):
    """«centred_difference»"""
    above = f(Value(x + epsilon))
    below = f(Value(x - epsilon))
    return (above.data - below.data) / (2 * epsilon)


def backward_gradient(f, x):
    """«backward_gradient»"""
    leaf = Value(x)  # «why_new»
    f(leaf).backward()
    return leaf.grad


def compare(f, points, epsilon=1e-5):
    """«compare»"""
    rows = []
    for x in points:
        numerical = centred_difference(f, x, epsilon)
        backward = backward_gradient(f, x)
        error = abs(numerical - backward)
        row = {"x": x, "numerical": numerical, "backward": backward}
        rows.append({**row, "error": error})
    return rows


def each_input(f, inputs, epsilon=1e-5):
    """«each_input»"""

    def slope(position):
        def moved(value):
            values = [Value(each) for each in inputs]
            values[position] = value
            return f(*values)

        return centred_difference(moved, inputs[position], epsilon)

    return [slope(position) for position in range(len(inputs))]


# «todo_worse»
# «why_worse»
WORSE = {"x": 0.5, "epsilon": 0.5, "error": 2.3e-3}


if __name__ == "__main__":
    # «playground»
    for row in compare(log_sigmoid, [-2.0, 0.5, 3.0]):
        print(row)
    for digits in range(1, 16):
        [row] = compare(log_sigmoid, [0.5], epsilon=10.0**-digits)
        print(f"epsilon 1e-{digits:02}  error {row['error']:.1e}")
