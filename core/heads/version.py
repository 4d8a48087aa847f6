"""The number that stands for how head outputs are computed; part of every reader's identity.

Raise it by hand whenever a text's pooled head outputs may change. A golden test fails when they
change and this number does not.
"""

HEADS_VERSION = 1
