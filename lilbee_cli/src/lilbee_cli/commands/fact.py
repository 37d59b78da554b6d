"""`lilbee fact`."""

from lilbee_cli.commands._shelf import shelf_group

command = shelf_group("fact", "Keep facts: single sentences that the chat model is told in every conversation.")
