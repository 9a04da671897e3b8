"""What one sandbox is: its state on disk, its clock, who may call, what it does on request."""
