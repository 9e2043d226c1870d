"""Foreign files whose facts become receipts."""
