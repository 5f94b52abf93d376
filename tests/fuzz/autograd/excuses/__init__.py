"""The differences that are meant, each with its reason.

An excuse is a narrow question about one case: ``left_out`` about steps that neither library should
be asked, ``states`` about values that cannot be compared, ``only_whygrad`` and ``only_pytorch``
about refusals, ``other_gradients`` about gradients that differ.  The long run reports how often
each was used.
"""
