"""Where a tensor stands in the graph: the node that made it, or where its constants came from.

:mod:`~whygrad.tensor.graph.node` is the tape itself, :mod:`~whygrad.tensor.graph.bases` ties a view
to its base, and :mod:`~whygrad.tensor.graph.lineage` follows values that left the graph.
"""
