"""Tests of outcomes, funnels and rates."""
