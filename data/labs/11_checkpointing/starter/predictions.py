"""«module»

«module_more»
"""

# «about_table»
TABLE = {
    "plain": {"calls": None, "peak": None},
    "6 segments": {"calls": None, "peak": None},
    "36 segments": {"calls": None, "peak": None},
}


def forward_calls(n, k):
    """«forward_calls»"""
    raise NotImplementedError("forward_calls")


def peak(n, k, c):
    """«peak»"""
    raise NotImplementedError("peak")


def extra(n, k):
    """«extra»

    «extra_more»
    """
    raise NotImplementedError("extra")
