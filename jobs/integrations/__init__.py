"""Foreign systems, translated into receipts."""
