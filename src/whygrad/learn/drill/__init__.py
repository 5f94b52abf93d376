"""Cards with spaced repetition: a log of reviews, FSRS over it, a session, and the way to Anki.

The log is all that is kept.  Where a card stands is computed from it each time, so a better
scheduler or a log from another machine needs no migration.
"""
