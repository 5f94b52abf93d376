"""Tests of the drills: log, schedule, session, exports."""
