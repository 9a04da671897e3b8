"""Tests of the local store."""
