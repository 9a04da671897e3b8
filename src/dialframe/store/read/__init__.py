"""What can be asked of a store."""
