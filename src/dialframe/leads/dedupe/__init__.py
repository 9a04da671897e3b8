"""Records judged against each other: which of several is called."""
