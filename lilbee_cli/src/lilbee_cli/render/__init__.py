"""The only modules that print."""
