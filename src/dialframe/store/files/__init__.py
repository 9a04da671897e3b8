"""How a store lies on disk: SQLite file, sealed parts, catalog, damage."""
