"""The tables that the checks of an audit read: frames as they come, places, clocks, cases and rules."""
