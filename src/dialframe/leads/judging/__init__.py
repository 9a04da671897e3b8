"""Records judged one by one: their numbers, names, addresses, and who must not be called."""
