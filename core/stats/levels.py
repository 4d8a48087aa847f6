"""Levels of tests and intervals, and how many of a kind are needed, for all that is computed.

Defined once, so that no two tables call different things reliable.
"""

from __future__ import annotations

LEVEL = 0.05  # of a test, and of the false discovery rate over a family of tests
CONFIDENCE = 0.95  # of an interval
NARROW = 0.90  # of the interval that equivalence needs: two one-sided tests at LEVEL
LEAST_MODELS = 5  # below, an interval over models speaks of chance
LEAST_ITEMS = 5  # below, a bootstrap interval over items is no more than their range
POWER = 0.80  # chance with which what is called noticeable is found
