"""Figures of axes in attention heads: where groups fall, where an axis lives, which are alike."""
