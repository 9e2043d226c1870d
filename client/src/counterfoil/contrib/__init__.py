"""Ready-made producers for job systems; each module is imported by whoever wants it."""
