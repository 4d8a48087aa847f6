"""Figures of identity pairs: whom a model is biased about, and where that comes from."""
