"""The service over HTTP: what comes in is let in, checked, answered once and for all."""
