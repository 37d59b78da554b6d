"""The `lilbee` command: index folders, search them and ask them, from the terminal."""
