"""«module»

«module_more»
"""

# «about_views»
VIEWS = {
    "x.reshape(6)": "view",
    "x.t()": "view",
    "x.t().reshape(6)": "copy",
    "x[:, 0].reshape(2)": "view",
    "x.contiguous()": "itself",
    "x.t().contiguous()": "copy",
    "x.t().flatten()": "copy",
    "x.expand(4, 2, 3)": "view",
    "x.repeat(4, 1, 1)": "copy",
    "x[:, ::2]": "view",
    "x[[0, 1]]": "copy",
    "x[x > 2]": "copy",
    "x.to(wg.float64)": "copy",
    "x.to(wg.float32)": "itself",
    "x.detach()": "view",
    "x.clone()": "copy",
}

# «about_saves»
SAVES = {
    "a + b": "none",
    "a * b": "input",
    "a @ b": "input",
    "a ** b": "both",
    "a.exp()": "output",
    "a.log()": "input",
    "a.tanh()": "output",
    "a.relu()": "output",
    "F.gelu(a)": "input",
    "a.softmax(-1)": "output",
    "a.logsumexp(-1)": "both",
    "a.sum()": "none",
    "a.t()": "none",
}

# «about_keys»
KEYS = {
    "wg.mul(f, f)": {"float32", "cpu", "strided"},
    "wg.mul(w, f)": {"float32", "cpu", "autograd", "strided"},
    "wg.add(i, f)": {"int64", "float32", "cpu", "strided"},
    "wg.exp(m)": {"float32", "meta", "strided"},
    "wg.matmul(s, f)": {"float32", "cpu", "sparse_coo", "strided"},
    "wg.matmul(s, w)": {"float32", "cpu", "sparse_coo", "autograd", "strided"},
}

# «about_no_grad»
KEYS_UNDER_NO_GRAD = {
    "wg.mul(w, f)": {"float32", "cpu", "strided"},
    "wg.matmul(s, w)": {"float32", "cpu", "sparse_coo", "strided"},
}
