"""Labs: exercises whose graders stand outside the learner's file and run it in its own process.

For the authors of graders: :class:`Bench`, :class:`Case`, :class:`Check`, :class:`Wrong`,
:class:`Trouble`; how a lab is written is in ``docs/labs.md``.
"""

from __future__ import annotations

from whygrad.learn.lab.bench import Bench, Case, Check, Wrong
from whygrad.learn.lab.catalogue import Lab, find, labs
from whygrad.learn.lab.grading import Report, grade
from whygrad.learn.lab.sandbox import Trouble

__all__ = ["Bench", "Case", "Check", "Lab", "Report", "Trouble", "Wrong", "find", "grade", "labs"]
