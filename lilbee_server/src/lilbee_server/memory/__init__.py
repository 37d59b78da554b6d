"""A search server over memory files: four addresses, a configuration in JSON, folders that are watched."""
