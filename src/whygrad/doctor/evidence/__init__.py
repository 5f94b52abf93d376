"""What a rule can find out about a run: the case, and questions to its record and its replays.

:mod:`.case` comes first: it holds the record and makes replays on request.  :mod:`.anatomy`,
:mod:`.flow` and :mod:`.provenance` say what the calls of a step are, and where values come from;
:mod:`.curve`, :mod:`.progress` and :mod:`.growth` what became of them.
"""
