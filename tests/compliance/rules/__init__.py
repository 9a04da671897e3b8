"""The rule book: its data, its calendars, its examples."""
