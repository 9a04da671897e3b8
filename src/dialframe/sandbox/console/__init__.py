"""The console: what an administrator, the operator and a rehearsal do."""
