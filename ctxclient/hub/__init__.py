"""Fetching a model from a hub, for `ctx model get`: the only code that downloads anything, and only when asked to."""
