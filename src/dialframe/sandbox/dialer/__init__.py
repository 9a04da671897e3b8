"""What the service does by itself as its clock goes on, and the checks before anybody is reached."""
