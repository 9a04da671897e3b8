"""Shapes of requests and answers, one module per resource; knows fields and bounds, not transport."""
