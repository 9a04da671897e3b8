"""Tests of experiments and of what stands on frames."""
