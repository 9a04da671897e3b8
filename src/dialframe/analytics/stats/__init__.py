"""Statistics on plain arrays: intervals, adjusted effects, survival curves, many tests at once."""
