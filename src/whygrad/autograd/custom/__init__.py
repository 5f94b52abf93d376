"""What happens inside ``Function.apply``.

``varying``
    tells values that depend on the arguments from constants, while ``forward`` runs;
``context``
    what ``ctx`` keeps, and how it shows that to ``backward`` and ``jvp``;
``call``
    one call on its way down through the layers: batches, tangents, the record;
``record``
    the node a call leaves behind, whose rule is the user's ``backward``;
``answers``
    what may be returned by the user's functions, and what is said if it is something else;
``batches``
    a call inside ``vmap``.
"""
