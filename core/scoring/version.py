"""The number that stands for how log-probabilities are computed; part of every scorer's identity.

Raise it by hand whenever a text's scored tokens or their log-probabilities may change. A golden
test fails when they change and this number does not.
"""

SCORING_VERSION = 1
