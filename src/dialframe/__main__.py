"""`python -m dialframe` is the command line."""

from dialframe.cli import main

# A worker process of a server loads this file again, under another name.
if __name__ == "__main__":
    main()
