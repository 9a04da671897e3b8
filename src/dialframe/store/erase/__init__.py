"""How a person, or what is old, leaves a store."""
