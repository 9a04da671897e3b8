"""One thin class per resource, one typed method per row; they know names and nothing of sending."""
