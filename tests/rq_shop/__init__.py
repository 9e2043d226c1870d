"""Jobs of a small shop on RQ, its worker, and what was recorded of them."""
