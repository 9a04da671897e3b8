"""Where I/O meets the pure rooms: one module per thing that a person asks for."""
