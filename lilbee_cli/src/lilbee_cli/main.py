"""The click group. Commands load on use, so that help costs next to nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from lilbee_cli.codes import OK, STOPPED
from lilbee_cli.failures import exit_code, fail, fail_bug, fail_usage

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("lilbee_cli.commands.init", "Make a folder a library."),
    "add": ("lilbee_cli.commands.add", "Index files and folders where they are, and pages of the web."),
    "crawl": ("lilbee_cli.commands.crawl", "Fetch pages of the web and those they link to."),
    "sync": ("lilbee_cli.commands.sync", "Read what is new or changed, drop what is gone."),
    "watch": ("lilbee_cli.commands.watch", "Keep the index equal to the folders until Ctrl-C."),
    "jobs": ("lilbee_cli.commands.jobs", "List, show and cancel long work in the background."),
    "status": ("lilbee_cli.commands.status", "Show the state of the library."),
    "search": ("lilbee_cli.commands.search", "Find passages by words and by meaning."),
    "ask": ("lilbee_cli.commands.ask", "Answer a question with citations."),
    "chat": ("lilbee_cli.commands.chat", "Talk with your documents."),
    "tui": ("lilbee_cli.commands.tui", "Search, read and talk on screens in the terminal."),
    "conversation": ("lilbee_cli.commands.conversation", "List, show, export and summarize conversations."),
    "show": ("lilbee_cli.commands.show", "Show the text of a document, or a part of it."),
    "topics": ("lilbee_cli.commands.topics", "Show what the documents talk about."),
    "related": ("lilbee_cli.commands.related", "Show what goes most with a concept."),
    "graph": ("lilbee_cli.commands.graph", "Export the graph of concepts, and correct it."),
    "wiki": ("lilbee_cli.commands.wiki", "Write pages about what many documents say."),
    "documents": ("lilbee_cli.commands.documents", "List documents with their state."),
    "remove": ("lilbee_cli.commands.remove", "Take documents out of the index."),
    "collection": ("lilbee_cli.commands.collection", "List, add, remove and rename collections."),
    "explain": ("lilbee_cli.commands.explain", "Say why a path is or is not indexed."),
    "index": ("lilbee_cli.commands.index", "Build the index for fast vector search now."),
    "rebuild": ("lilbee_cli.commands.rebuild", "Build the index anew."),
    "note": ("lilbee_cli.commands.note", "Keep notes."),
    "fact": ("lilbee_cli.commands.fact", "Keep facts that the chat model is told."),
    "skill": ("lilbee_cli.commands.skill", "Keep procedures for the chat model."),
    "prompt": ("lilbee_cli.commands.prompt", "Show and change what chat models are told."),
    "config": ("lilbee_cli.commands.config", "Show and change settings."),
    "trust": ("lilbee_cli.commands.trust", "Let this library use its own settings."),
    "plugins": ("lilbee_cli.commands.plugins", "List plugins and what is wrong with them."),
    "eval": ("lilbee_cli.commands.eval", "Measure retrieval on a judged collection."),
    "tune": ("lilbee_cli.commands.tune", "Look for search settings that find more, on judged queries."),
    "model": ("lilbee_cli.commands.model", "List, look for, fetch and remove models."),
    "use-embedder": ("lilbee_cli.commands.use_embedder", "Change the embedding model of an index that is there."),
    "placement": ("lilbee_cli.commands.placement", "Show and change which card runs which model file."),
    "engine": ("lilbee_cli.commands.engine", "Show, read and end the servers that run model files."),
    "token": ("lilbee_cli.commands.token", "Make, list and revoke tokens for programs."),
    "agent-config": ("lilbee_cli.commands.agent_config", "Print or write what agents are told of a library."),
    "launch": ("lilbee_cli.commands.launch", "Start an agent that knows this library."),
    "doctor": ("lilbee_cli.commands.doctor", "Check the installation and the index."),
    "completion": ("lilbee_cli.commands.completion", "Print a shell completion script."),
    "version": ("lilbee_cli.commands.version", "Print the version."),
}
GROUP = "lilbee_cli.commands"
FOREIGN = {
    "serve": ("lilbee-server", "Serve the library over HTTP."),
    "open": ("lilbee-server", "Open the page of the running server in a browser."),
    "mcp": ("lilbee-mcp", "Serve the library to agents over MCP."),
}
"""Commands of the sibling distributions, named here so that help can say how to get them."""


class LazyGroup(click.Group):
    """Knows the names of all commands without importing any."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS, *sorted({*FOREIGN, *_foreign_names()} - set(COMMANDS))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in COMMANDS:
            module = import_module(COMMANDS[cmd_name][0])
            command: click.Command = module.command
            return command
        return _foreign_command(cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [(name, summary) for name, (_, summary) in COMMANDS.items()]
        for name in self.list_commands(ctx):
            if name not in COMMANDS:
                package, summary = FOREIGN.get(name, ("a plugin", ""))
                rows.append((name, summary or f"From {package}."))
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in self.list_commands(ctx) and not name.startswith("-"):
            import difflib

            near = difflib.get_close_matches(name, self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]!r}?" if near else " Run `lilbee --help` to see all commands."
            raise click.UsageError(f"there is no command {name!r}.{hint}")
        return super().resolve_command(ctx, args)


def _foreign_names() -> list[str]:
    from importlib.metadata import entry_points

    return [point.name for point in entry_points(group=GROUP)]


def _foreign_command(name: str) -> click.Command | None:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        if point.name == name:
            try:
                loaded: click.Command = point.load()
            except Exception as error:
                raise click.ClickException(f"the command {name!r} cannot be loaded: {error}") from error
            return loaded
    if name in FOREIGN:
        package = FOREIGN[name][0]

        @click.command(name, context_settings={"ignore_unknown_options": True}, add_help_option=False)
        @click.argument("rest", nargs=-1, type=click.UNPROCESSED)
        def missing(rest: Sequence[str]) -> None:
            raise click.ClickException(f"{name!r} comes with {package}: pip install {package}")

        return missing
    return None


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
)
@click.version_option(package_name="lilbee-cli", prog_name="lilbee")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Search your own documents, and ask them, on your own machine.

    Start with `lilbee add FOLDER`, then `lilbee search WORDS` or `lilbee ask QUESTION`. Alone on a terminal, `lilbee`
    shows its screens (`lilbee tui`), if the extra for them is installed.
    """
    if ctx.invoked_subcommand is None and not _shows_screens(ctx):
        click.echo(ctx.get_help())


def _shows_screens(ctx: click.Context) -> bool:
    """Show the screens where they can be shown; say whether that was done."""
    from lilbee_cli import tui

    if not (sys.stdin.isatty() and sys.stdout.isatty() and tui.is_installed()):
        return False
    command = cli.get_command(ctx, "tui")
    assert command is not None
    ctx.invoke(command)
    return True


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(run(argv))


def run(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _utf8()
    as_json = "--json" in arguments or "-j" in arguments
    try:
        result: Any = cli.main(arguments, prog_name="lilbee", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return stopped(serving="serve" in arguments[:1] or "mcp" in arguments[:1])
    except BrokenPipeError:
        # The reader went away (`lilbee search … | head`); nothing is left to say.
        sys.stderr.close()
        return OK
    except Exception as error:  # noqa: BLE001 - the last place where an error can be told to a person
        return _tell(error, arguments, as_json=as_json)
    return result if isinstance(result, int) else OK


def _tell(error: Exception, arguments: Sequence[str], *, as_json: bool) -> int:
    if isinstance(error, click.ClickException):
        return fail_usage(error, as_json=as_json)
    code = exit_code(error)
    if code is None:
        return fail_bug(error, arguments, as_json=as_json)
    return fail(error, code, as_json=as_json)


def stopped(*, serving: bool = False) -> int:
    """Say that the user stopped the work, or a server, which has none to go on with."""
    kept = "" if serving else ": what was finished is kept; run the command again to go on"
    click.echo(f"stopped{kept}", err=True)
    return STOPPED


def _utf8() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="backslashreplace")


if __name__ == "__main__":
    main()
