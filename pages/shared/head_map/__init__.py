"""The head map: a grid of heads to drag over, and where phrases fall in the heads chosen."""
