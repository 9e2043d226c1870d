"""Read the tables of buses: every SELECT of the app is here."""
