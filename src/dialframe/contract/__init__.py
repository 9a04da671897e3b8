"""What the service promises, as data: operations, shapes, codes, limits; no I/O, no frames."""
