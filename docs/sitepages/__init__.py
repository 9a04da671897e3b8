"""What the site makes itself: tables from the package's data, the README by section, the reference."""
