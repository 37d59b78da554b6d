"""What an application has, as routes find it."""

from __future__ import annotations

from litestar.datastructures import State

from lilbee_core import Lilbee
from lilbee_server.feeds import Feeds
from lilbee_server.replies import Replies
from lilbee_server.signin import SignIns
from lilbee_server.turns import Turns


def library_of(state: State) -> Lilbee:
    """Return the library that the application was made for."""
    library: Lilbee = state["library"]
    return library


def turns_of(state: State) -> Turns:
    """Return what lets one reply be written at a time."""
    turns: Turns = state["turns"]
    return turns


def replies_of(state: State) -> Replies:
    """Return the replies of conversations."""
    replies: Replies = state["replies"]
    return replies


def feeds_of(state: State) -> Feeds:
    """Return what tells of jobs."""
    feeds: Feeds = state["feeds"]
    return feeds


def signins_of(state: State) -> SignIns:
    """Return the codes and sessions of people at the page."""
    signins: SignIns = state["signins"]
    return signins
