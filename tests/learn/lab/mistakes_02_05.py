"""Classic mistakes of labs 2 to 5, as changes of the reference solution."""

from __future__ import annotations

__all__ = ["BY_HAND", "FINITE_DIFFERENCES", "MANUAL_BACKPROP", "MISTAKES", "TENSOR_AUTOGRAD"]

Mistake = tuple[str, str, str, str]  # what is replaced, by what, the check that fails, its message

BY_HAND: dict[str, Mistake] = {
    "the 2 of the square": (
        '"dL/du": 14',
        '"dL/du": 7',
        "square-numbers",
        "dL/du: the 2 of the square is missing",
    ),
    "the outer slope alone": (
        '"dL/dx": du * w',
        '"dL/dx": du',
        "square",
        "dL/dx: that is what arrives at the product",
    ),
    "the factor itself": (
        '"dL/dw": du * x',
        '"dL/dw": du * w',
        "square",
        "dL/dw: in a product the slope of each factor is the other factor",
    ),
    "one path lost": ("return x + x + 1", "return x + x", "twice", "dy/dx: a path is missing"),
    "a product of slopes": ("return x + x + 1", "return 1 * 1 + 1", "twice", "not the product"),
    "right for positive numbers": (
        "return x + x + 1",
        "return x + abs(x) + 1",
        "twice",
        "not right",
    ),
    "overwritten": ("(a + a)\n", "a\n", "twice", "dy/da: a path is missing"),
    "the last path of the diamond": (
        '"dL/da": 4,',
        '"dL/da": 10,',
        "diamond-numbers",
        "dL/da: a path is missing",
    ),
    "a minus lost": ('"dL/dc": de - df', '"dL/dc": de + df', "diamond", "c stands with a minus"),
    "a number left out": ('"L": -20,', '"L": None,', "diamond-numbers", "DIAMOND still has None"),
    "finite differences": (
        "    return x + x + 1",
        "    y = lambda x: x * x + x\n    return (y(x + 1) - y(x - 1)) / 2",
        "by-hand",
        "something is called or imported",
    ),
}
FINITE_DIFFERENCES: dict[str, Mistake] = {
    "divided by half the distance": (
        "/ (2 * epsilon)",
        "/ epsilon",
        "slope",
        "Twice the slope",
    ),
    "one-sided": (
        "Value(x - epsilon))\n    return (above.data - below.data) / (2 * epsilon)",
        "Value(x))\n    return (above.data - below.data) / epsilon",
        "centred",
        "This is a one-sided difference",
    ),
    "an epsilon of its own": (
        "    above = f(",
        "    epsilon = 1e-4\n    above = f(",
        "centred",
        "does not depend on epsilon",
    ),
    "autograd in disguise": (
        "return (above.data - below.data) / (2 * epsilon)",
        "return backward_gradient(f, x)",
        "centred",
        "A difference never is",
    ),
    "one leaf for all": (
        "    leaf = Value(x)",
        "    leaf = backward_gradient.__dict__.setdefault('leaf', Value(x))\n    leaf.data = x",
        "backward",
        "Each gradient contains the ones before it",
    ),
    "epsilon not handed on": (
        "centred_difference(f, x, epsilon)",
        "centred_difference(f, x)",
        "compare",
        "do not depend on the epsilon that compare was given",
    ),
    "an error with a sign": (
        "error = abs(numerical - backward)",
        "error = -abs(numerical - backward)",
        "compare",
        "error is the absolute value",
    ),
    "all inputs at once": (
        "values[position] = value",
        "values = [Value(each + value.data - inputs[position]) for each in inputs]",
        "each-input",
        "All inputs were moved at once",
    ),
    "the inputs left moved": (
        "    def slope(position):",
        "    inputs[0] += 1e-9\n\n    def slope(position):",
        "each-input",
        "the list of inputs is another one",
    ),
    "not worse at all": (
        '"epsilon": 0.5',
        '"epsilon": 1e-6',
        "worse",
        "this epsilon is not 100 times worse",
    ),
    "an error nobody measured": (
        '"error": 2.3e-3',
        '"error": 5e-3',
        "worse",
        "With epsilon 0.5 another error is measured",
    ),
}
TENSOR_AUTOGRAD: dict[str, Mistake] = {
    "stretched axes dropped": (
        "axis=stretched, keepdims=True",
        "axis=stretched",
        "unbroadcast",
        "grad has the shape (2,), expected (2, 1)",
    ),
    "copies averaged": (
        "grad.sum(axis=new_axes)",
        "grad.mean(axis=new_axes)",
        "unbroadcast",
        "averaged",
    ),
    "one copy kept": (
        "grad.sum(axis=new_axes)",
        "grad[(0,) * len(new_axes)]",
        "unbroadcast",
        "that is the share of one copy",
    ),
    "a pair in the wrong order": (
        "return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)",
        "return unbroadcast(grad_b, b.shape), unbroadcast(grad_a, a.shape)",
        "matmul",
        "that is the gradient of b",
    ),
    "no transpose": ("grad @ np.swapaxes(b, -1, -2)", "grad @ b", "matmul", "ValueError: matmul"),
    "one result": (
        "return unbroadcast(grad_a, a.shape), unbroadcast(grad_b, b.shape)",
        "return unbroadcast(grad_a, a.shape)",
        "matmul",
        "returns two arrays, grad_a and grad_b",
    ),
    "a batch not summed": (
        "unbroadcast(grad_b, b.shape)",
        "grad_b",
        "matmul-batched",
        "grad_b has the shape (2, 2, 3), expected (2, 3)",
    ),
    "the wrong axis": (
        "    if axis is not None and not keepdims:\n        grad = np.expand_dims(grad, axis)\n",
        "",
        "sum",
        "NumPy lined grad up with the last axes",
    ),
    "ones only": ("np.broadcast_to(grad, shape)", "np.ones(shape)", "sum", "only if 1 arrives"),
    "a mean not divided": (", keepdims) / count", ", keepdims)", "mean", "the gradient of a sum"),
    "a mean over everything": (
        "count = math.prod(shape[each] for each in axes)",
        "count = math.prod(shape)",
        "mean",
        "divided by the number of all elements",
    ),
    "a loss summed": (
        "[rows, labels].mean()",
        "[rows, labels].sum()",
        "cross-entropy",
        "B times too large",
    ),
    "overflow": (
        "shifted = logits - logits.max(axis=1, keepdims=True)",
        "shifted = logits",
        "stable",
        "loss is infinite: an exponential overflowed",
    ),
    "log of softmax": (
        "return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))",
        "return np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True))",
        "stable",
        "compute log p without computing p",
    ),
    "clipped": (
        "return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))",
        "return np.log(np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True) + 1e-12)",
        "stable",
        "Is p rounded or clipped before log is taken?",
    ),
    "a gradient summed": (
        "return difference / len(labels)",
        "return difference",
        "cross-entropy-backward",
        "B times too large",
    ),
    "no one-hot": (
        "    difference[rows, labels] -= 1\n",
        "",
        "cross-entropy-backward",
        "1 is subtracted from p",
    ),
    "the logits written to": (
        "    difference = np.exp(log_softmax(logits))\n",
        "    difference = np.exp(log_softmax(logits))\n    logits -= logits.max()\n",
        "cross-entropy-backward",
        "changed an array that it was given",
    ),
    "overwritten": (
        "self.grad += rules.sum_backward",
        "self.grad = rules.sum_backward",
        "shared",
        "Does one share replace the other?",
    ),
    "what arrives ignored": (
        "self.grad += out.grad * rules.cross",
        "self.grad += rules.cross",
        "network",
        "the loss is multiplied by scale, and that is lost",
    ),
}
MANUAL_BACKPROP: dict[str, Mistake] = {
    "a shape not predicted": (
        '"dL_dx": (2, 1)',
        '"dL_dx": None',
        "predicted-shapes",
        "None at: dL_dx",
    ),
    "a gradient shaped like a product": (
        '"dL_dW1": (3, 2)',
        '"dL_dW1": (2, 3)',
        "predicted-shapes",
        "dL_dW1: write the shapes",
    ),
    "the half forgotten": (
        "loss = 0.5 * np.sum((prediction - target) ** 2)\n",
        "loss = np.sum((prediction - target) ** 2)\n",
        "forward",
        "The loss is half the sum",
    ),
    "relu in place": (
        "    z1 = W1 @ x + b1\n    a1 = np.maximum(z1, 0)",
        "    z1 = W1 @ x + b1\n    a1 = np.maximum(z1, 0, out=z1)",
        "forward",
        "relu overwrote it",
    ),
    "the outer product the wrong way round": (
        'd_prediction @ saved["a1"].T',
        'saved["a1"] @ d_prediction.T',
        "shapes",
        "dL_dW2 has the shape (3, 1), expected (1, 3), which is the shape of W2",
    ),
    "no gate": (
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] > 0)',
        "d_a1 = W2.T @ d_prediction\n    d_z1 = d_a1",
        "gradients",
        "dL_dz1: that is dL_da1 unchanged",
    ),
    "the gate in place": (
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] > 0)',
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1\n    d_z1[saved["z1"] <= 0] = 0',
        "gradients",
        "dL_da1 has zeros where relu is closed",
    ),
    "target minus prediction": (
        'd_prediction = saved["prediction"] - target',
        'd_prediction = target - saved["prediction"]',
        "gradients",
        "dL_dprediction: the sign is wrong",
    ),
    "open at zero": (
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] > 0)',
        'd_a1 = W2.T @ d_prediction\n    d_z1 = d_a1 * (saved["z1"] >= 0)',
        "relu-at-zero",
        "z1 > 0, not z1 >= 0",
    ),
    "a batch summed": (
        "np.sum((prediction - target) ** 2) / len(x)",
        "np.sum((prediction - target) ** 2)",
        "batch-forward",
        "that is the sum over the rows",
    ),
    "a bias per row": (
        "d_prediction.sum(axis=0)",
        "d_prediction",
        "batch-shapes",
        "dL_db2 has the shape (4, 1), expected (1,), which is the shape of b2",
    ),
    "a batch not averaged": (
        '(saved["prediction"] - target) / len(x)',
        'saved["prediction"] - target',
        "batch-gradients",
        "dL_dprediction: B times too large",
    ),
    "averaged twice": (
        "d_z1.sum(axis=0)",
        "d_z1.mean(axis=0)",
        "batch-gradients",
        "divided by B twice",
    ),
}
TABLES = {
    "by-hand": BY_HAND,
    "finite-differences": FINITE_DIFFERENCES,
    "tensor-autograd": TENSOR_AUTOGRAD,
    "manual-backprop": MANUAL_BACKPROP,
}
MISTAKES = {
    f"{lab}: {title}": (lab, *mistake)
    for lab, table in TABLES.items()
    for title, mistake in table.items()
}
