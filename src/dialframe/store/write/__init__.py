"""How rows come into a store: appended, then sealed."""
