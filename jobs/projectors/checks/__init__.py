"""What the projector of contradictions checks: one file for each kind of evidence."""
