"""Tests of the receiving side of webhooks."""
