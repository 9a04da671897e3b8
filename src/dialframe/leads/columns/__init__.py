"""Which column of a lead file holds which field, and which country its numbers are of."""
