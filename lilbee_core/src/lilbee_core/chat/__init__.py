"""What a chat model is sent: windows, compaction, wordings, tools, follow-ups. No search, no storage of its own."""

from lilbee_core.chat._compaction import Compactor, cutoff, moment, next_cutoff, said_by, summary_turns
from lilbee_core.chat._follow_up import FollowUps, Rewritten
from lilbee_core.chat._prompts import SYSTEM, Prompts, PromptText, texts_of
from lilbee_core.chat._tool_loop import ToolBox, ToolLoop
from lilbee_core.chat._window import DEFAULT_CONTEXT_TOKENS, Window, WindowedChat, message_tokens

__all__ = [
    "DEFAULT_CONTEXT_TOKENS", "SYSTEM", "Compactor", "FollowUps", "PromptText", "Prompts", "Rewritten", "ToolBox",
    "ToolLoop", "Window", "WindowedChat", "cutoff", "message_tokens", "moment", "next_cutoff", "said_by",
    "summary_turns", "texts_of",
]  # fmt: skip
