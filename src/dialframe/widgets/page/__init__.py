"""The web page: the three widgets behind three tabs, and the server that lets one person in."""
