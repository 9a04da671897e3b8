"""What every analysis returns: a result with claims, tables and words."""
