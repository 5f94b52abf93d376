"""«module»

«module_more»
"""

# «about_table»
TABLE = {
    "plain": {"calls": 36, "peak": 37},
    "6 segments": {"calls": 66, "peak": 12},
    "36 segments": {"calls": 71, "peak": 37},  # «nothing_gained»
}


def forward_calls(n, k):
    """«forward_calls»"""
    return n + (n - n // k)  # «all_but_the_last»


def peak(n, k, c):
    """«peak»"""
    return k + c * (n // k)  # «inputs_and_inside»


def extra(n, k):
    """«extra»

    «extra_more»
    """
    return (forward_calls(n, k) - n) / (3 * n)
