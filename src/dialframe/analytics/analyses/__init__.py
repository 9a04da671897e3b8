"""The analyses: each a function from frames to a result."""
