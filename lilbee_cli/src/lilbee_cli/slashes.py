"""Commands that begin with a slash, and the keys of the screens: one list for the line and for the screens (R246)."""

from __future__ import annotations

import difflib
import shlex
from dataclasses import dataclass

SCOPES = ("raw", "wiki", "both", "none")
LINE = "line"
"""Where a conversation is held line by line; every other place is a pane of the screens, or ``app`` for all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slash:
    """A command: what it takes and does, where it is understood, and the key that stands for it there.

    Whoever understands it has a method of its name.
    """

    name: str
    does: str
    takes: str = ""
    where: tuple[str, ...] = ()
    key: str = ""

    @property
    def usage(self) -> str:
        """The command as one types it."""
        return f"/{self.name} {self.takes}".rstrip()


_TALK = ("line", "chat")
PANES = ("search", "chat", "documents", "tasks", "collections", "wiki", "models", "settings")

SLASHES = (
    # Everywhere.
    Slash(name="help", does="Show this.", where=("line", "app"), key="f1,alt+1"),
    Slash(name="search", does="Search as you type.", takes="[WORDS]", where=("app",), key="f2,alt+2"),
    Slash(name="chat", does="Talk with your documents.", takes="[MESSAGE]", where=("app",), key="f3,alt+3"),
    Slash(name="documents", does="See every file and its state.", takes="[WORDS]", where=("app",), key="f4,alt+4"),
    Slash(name="tasks", does="See what is being done.", where=("app",), key="f5,alt+5"),
    Slash(name="collections", does="See the folders of the library.", where=("app",), key="f6,alt+6"),
    Slash(name="wiki", does="Read the wiki.", takes="[PAGE]", where=("app",), key="f7,alt+7"),
    Slash(name="models", does="See models, and where they run.", takes="[WORDS]", where=("app",), key="f8,alt+8"),
    Slash(name="settings", does="See and change settings.", takes="[WORDS]", where=("app",), key="f9,alt+9"),
    Slash(name="add", does="Index a file, a folder or a page of the web.", takes="PATH|URL…", where=("app",),
          key="f10,alt+0"),
    Slash(name="sync", does="Read what is new or changed.", where=("app",)),
    Slash(name="watch", does="Read what changes as it happens, until /cancel or the end.", where=("app",)),
    Slash(name="cancel", does="End a task: the one that runs, or the one named.", takes="[ID]", where=("app",)),
    Slash(name="status", does="Show the state of the library.", where=("app",)),
    Slash(name="setup", does="Make a folder a library.", takes="[FOLDER]", where=("app",)),
    Slash(name="adopt", does="Use the model that made the index.", takes="[MODEL]", where=("app",)),
    Slash(name="theme", does="Change between dark and light.", where=("app",)),
    Slash(name="set", does="Show or change settings.", takes="[NAME [VALUE]]", where=("line", "app")),
    Slash(name="quit", does="End (or Ctrl-D).", where=("line",)),
    Slash(name="quit", does="End.", where=("app",), key="ctrl+q"),
    # Search.
    Slash(name="explain", does="Show what every stage of the search did.", where=("search",), key="ctrl+y"),
    Slash(name="scope", does="Search raw, wiki or both.", takes="[SCOPE]", where=("search",), key="ctrl+t"),
    Slash(name="profile", does="Search by another list of stages.", takes="[NAME]", where=("search",)),
    Slash(name="ask", does="Ask what was typed instead.", where=("search",), key="ctrl+s"),
    # Chat.
    Slash(name="history", does="Show the last N messages, or all.", takes="[N]", where=("line",)),
    Slash(name="sources", does="Show what the last reply cites, or the Nth from the end.", takes="[N]", where=_TALK,
          key="ctrl+o"),
    Slash(name="scope", does="Search raw, wiki, both or none; in these collections or all.",
          takes="[SCOPE] [COLLECTION…]", where=_TALK, key="ctrl+t"),
    Slash(name="stop", does="End the reply; what there is of it is kept.", where=("chat",), key="escape"),
    Slash(name="attach", does="Hand files or documents over with the next message.", takes="PATH…", where=_TALK),
    Slash(name="regenerate", does="Have the last message answered anew.", where=_TALK, key="ctrl+r"),
    Slash(name="rewind", does="Take back the last N of your messages, and what followed.", takes="[N]", where=_TALK,
          key="ctrl+b"),
    Slash(name="compact", does="Summarize earlier messages for the chat model; they stay.", where=_TALK),
    Slash(name="new", does="Begin another conversation.", takes="[TITLE]", where=_TALK, key="ctrl+n"),
    Slash(name="open", does="Go on with another conversation, or list them.", takes="[REF]", where=_TALK, key="ctrl+l"),
    Slash(name="title", does="Show or change the title.", takes="[TITLE]", where=_TALK),
    Slash(name="save", does="Write the conversation as Markdown, or as .json.", takes="FILE", where=_TALK),
    Slash(name="request", does="Show what the chat model was sent, or would be for a message.", takes="[MESSAGE]",
          where=_TALK),
    Slash(name="remember", does="Tell the chat model a fact from now on.", takes="FACT", where=_TALK),
    # Documents.
    Slash(name="why", does="Say why a path is, or is not, in the index.", takes="[PATH]", where=("documents",),
          key="w"),
    Slash(name="exclude", does="Take a document out of the index, and keep it out.", takes="[REF]",
          where=("documents",), key="x"),
    Slash(name="include", does="Bring a document back that was taken out.", takes="[REF]", where=("documents",),
          key="i"),
    Slash(name="retry", does="Try files again that failed.", where=("documents",), key="r"),
    Slash(name="state", does="Show documents of one state, then the next.", takes="[STATE]", where=("documents",),
          key="s"),
    # Tasks.
    Slash(name="end", does="End the task under the bar.", where=("tasks",), key="c"),
    # Collections.
    Slash(name="collect", does="Make a folder a collection.", takes="FOLDER [NAME]", where=("collections",), key="n"),
    Slash(name="rename", does="Give a collection another name.", takes="[NAME]", where=("collections",), key="r"),
    Slash(name="forget", does="Forget a collection; its files stay.", takes="[NAME]", where=("collections",),
          key="delete"),
    # Wiki.
    Slash(name="build", does="Write the pages whose sources changed.", where=("wiki",), key="b"),
    Slash(name="drafts", does="Review drafts, or go back to the pages.", where=("wiki",), key="d"),
    Slash(name="accept", does="Publish the draft.", takes="[PAGE]", where=("wiki",), key="y"),
    Slash(name="reject", does="Throw the draft away.", takes="[PAGE]", where=("wiki",), key="n"),
    # Models.
    Slash(name="use", does="Use a model for a role, or none.", takes="[ROLE MODEL]", where=("models",), key="u"),
    Slash(name="pull", does="Fetch a model.", takes="[MODEL]", where=("models",), key="p"),
    Slash(name="delete", does="Delete a model that was fetched.", takes="[MODEL]", where=("models",), key="delete"),
    Slash(name="placement", does="Show which card runs which model, or place them.", takes="[SPEC|clear]",
          where=("models",), key="l"),
    # Settings.
    Slash(name="unset", does="Go back to the default.", takes="[NAME]", where=("settings",), key="delete"),
)  # fmt: skip


def at(place: str) -> dict[str, Slash]:
    """Return the commands of one place by name."""
    return {one.name: one for one in SLASHES if place in one.where}


def homes(name: str) -> tuple[str, ...]:
    """Return the places of the screens where a command is understood."""
    return tuple(place for one in SLASHES if one.name == name for place in one.where if place != LINE)


def nearest(name: str, *places: str) -> str:
    """Return what to tell somebody who typed a command that there is none of."""
    near = difflib.get_close_matches(name, {one for place in places for one in at(place)}, n=1)
    hint = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
    return f"there is no command /{name}. {hint} Begin with a blank to send it as a message."


def words(rest: str) -> list[str]:
    """Split what follows a command as a shell would; quotation marks need not match."""
    try:
        return shlex.split(rest)
    except ValueError:  # an odd quotation mark
        return rest.split()


@dataclass(frozen=True, slots=True)
class ScopeChange:
    """What ``/scope`` was told: a scope, collections (none of them for all), or neither."""

    scope: str | None
    collections: tuple[str, ...] | None

    @classmethod
    def read(cls, told: list[str]) -> ScopeChange:
        """Tell scopes from names of collections."""
        chosen = [word for word in told if word in SCOPES]
        named = tuple(word for word in told if word not in SCOPES and word != "all")
        return cls(chosen[-1] if chosen else None, named if named or "all" in told else None)


def searched(scope: str, collections: tuple[str, ...]) -> str:
    """Say what a conversation searches."""
    where = ", ".join(collections) or "all collections"
    return "Nothing is searched." if scope == "none" else f"Searched: {scope}, {where}"


def number(told: list[str], name: str) -> int | None:
    """Return the number that a command was given, None without one.

    Raises:
        ValueError: If it is no number.
    """
    if not told:
        return None
    if not told[0].isdecimal() or int(told[0]) < 1:
        raise ValueError(f"/{name} takes a number, not {told[0]!r}")
    return int(told[0])
