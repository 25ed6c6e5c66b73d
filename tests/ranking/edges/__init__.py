"""Edges that were judged by hand."""
