"""From findings to one root cause; :mod:`.order` says what explains what."""

from __future__ import annotations

from whygrad.doctor.verdict.diagnosis import Asked, Diagnosis, diagnose

__all__ = ["Asked", "Diagnosis", "diagnose"]
