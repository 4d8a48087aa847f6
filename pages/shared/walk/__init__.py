"""Buttons and keys to the one before and the next, with every press counted."""
