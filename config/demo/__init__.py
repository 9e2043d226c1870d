"""The scenarios of the seeds, run for real and small into a project of their own."""
