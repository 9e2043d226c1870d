"""What every app shares and no app owns; holds no models."""
