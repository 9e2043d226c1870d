"""Every SELECT of the jobs pages."""
