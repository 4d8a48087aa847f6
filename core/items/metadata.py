"""What the program itself reads in an item's metadata: names, and values that mean something."""

from __future__ import annotations

# How the texts of an item belong together.
FORM = "form"
FILL_IN = "fill_in"  # the context is a sentence with a blank, the continuations are filled ones
SENTENCE = "sentence"  # filled sentences alone, without that context
QUESTION = "question"  # the context ends in a question, the continuations are its answers
CONTINUATION = "continuation"  # the continuations go on where the context ends
BLANK = "BLANK"  # stands in a context for what is filled in

# Of a translation or rewording.
JUDGMENT = "judgment"  # whether a translation keeps what the item is about, one of JUDGMENTS
JUDGMENTS = ("preserved", "partly", "lost")
SIMILARITY = "similarity"  # cosine of the original with the version translated back
UNCHANGED = "unchanged"  # share of a rewording's fields that are as in the original
BLANK_SURVIVED = "blank_survived"  # whether a fill-in item still has its blank
