"""`lilbee skill`."""

from lilbee_cli.commands._shelf import shelf_group

command = shelf_group(
    "skill", "Keep skills: procedures of which the chat model is told name and description, and reads those that apply."
)
