"""`lilbee note`."""

from lilbee_cli.commands._shelf import shelf_group

command = shelf_group("note", "Keep notes: longer texts, written by hand or by a chat model.")
