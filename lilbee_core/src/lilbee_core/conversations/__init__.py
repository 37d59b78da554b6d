"""Conversations over the documents: every message kept, earlier turns understood, long ones summarized."""

from lilbee_core.conversations._conversation import SUMMARIZING, Conversation
from lilbee_core.conversations._conversations import Conversations
from lilbee_core.conversations._journal import Journal
from lilbee_core.conversations._ports import Attached, Engine, Engines, Record

__all__ = ["SUMMARIZING", "Attached", "Conversation", "Conversations", "Engine", "Engines", "Journal", "Record"]
