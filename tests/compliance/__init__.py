"""Tests of the compliance room."""
