"""`python -m dialframe` is the command line."""

from dialframe.cli import main

main()
