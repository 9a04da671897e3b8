"""Outcomes of a cleaning as files and as a report."""
