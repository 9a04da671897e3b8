"""The counted outbound attempts: outcome classes, matching of leads, local time, attempt numbers."""
