"""What happens inside ``Function.apply``.

``signature``
    what a class says about its calls: which methods it has, the names of its arguments;
``call``
    one call on its way down through the layers: batches, tangents, the record;
``context``
    what ``ctx`` keeps, and how it shows that to ``backward`` and ``jvp``;
``varying``
    which values depend on the arguments, followed while ``forward`` runs;
``outputs``
    what ``forward`` returned, and the tensors that the user gets for it;
``record``
    the node a call leaves behind, whose rule is the user's ``backward``;
``answers``
    what the user's functions may return, and what is said if it is something else;
``refusal``, ``once``
    places in the graph where a derivative ends with an error;
``batches``
    a call inside ``vmap``.
"""
