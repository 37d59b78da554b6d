"""Pages by subject; each module lists its `ROUTES`."""
