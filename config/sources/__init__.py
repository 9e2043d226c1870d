"""Everything that is watched, in one file of the user's own (contract, sections 1 and 10)."""
