"""Tokens for programs that reach a library over a network: what each may see and do."""

from lilbee_core.tokens._tokens import NewToken, TokenInfo, Tokens

__all__ = ["NewToken", "TokenInfo", "Tokens"]
