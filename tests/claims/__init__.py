"""Worlds whose truth is known, and what the analyses claim of them."""
