"""«module»

«module_more»
"""

# «about_views»
VIEWS = {
    "x.reshape(6)": None,
    "x.t()": None,
    "x.t().reshape(6)": None,
    "x[:, 0].reshape(2)": None,
    "x.contiguous()": None,
    "x.t().contiguous()": None,
    "x.t().flatten()": None,
    "x.expand(4, 2, 3)": None,
    "x.repeat(4, 1, 1)": None,
    "x[:, ::2]": None,
    "x[[0, 1]]": None,
    "x[x > 2]": None,
    "x.to(wg.float64)": None,
    "x.to(wg.float32)": None,
    "x.detach()": None,
    "x.clone()": None,
}

# «about_saves»
SAVES = {
    "a + b": None,
    "a * b": None,
    "a @ b": None,
    "a ** b": None,
    "a.exp()": None,
    "a.log()": None,
    "a.tanh()": None,
    "a.relu()": None,
    "F.gelu(a)": None,
    "a.softmax(-1)": None,
    "a.logsumexp(-1)": None,
    "a.sum()": None,
    "a.t()": None,
}

# «about_keys»
KEYS = {
    "wg.mul(f, f)": None,
    "wg.mul(w, f)": None,
    "wg.add(i, f)": None,
    "wg.exp(m)": None,
    "wg.matmul(s, f)": None,
    "wg.matmul(s, w)": None,
}

# «about_no_grad»
KEYS_UNDER_NO_GRAD = {
    "wg.mul(w, f)": None,
    "wg.matmul(s, w)": None,
}
