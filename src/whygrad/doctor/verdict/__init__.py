"""From findings to one root cause; :mod:`.order` says what explains what."""

from __future__ import annotations

from whygrad.doctor.verdict.diagnosis import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
