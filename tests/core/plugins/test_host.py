"""The host finds plugins and isolates them (R003-R005)."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, Field, model_validator

from lilbee_core.errors import PluginError, ProviderUnavailable
from lilbee_core.events import Event, Warned
from lilbee_core.plugins import (
    Offer,
    PluginFailure,
    PluginHost,
    PluginSpec,
    _finding,
    hookimpl,
    load_entry_points,
)
from tests.core.plugins._samples import (
    AcmeOptions,
    AnyOptions,
    Named,
    Pass,
    Shop,
    Tables,
    Whole,
    extractor,
    provider,
    reading,
    refuse,
    stage,
    who,
)


def host(*plugins: object, **more: Any) -> PluginHost:
    """A host that sees no installed plugins unless the test says so."""
    return PluginHost(plugins, **{"entry_points": list, **more})


def only_failure(found: PluginHost) -> PluginFailure:
    (failure,) = found.failures
    return failure


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.syspath_prepend(str(tmp_path))
    opened = Shop(tmp_path)
    yield opened
    opened.close()


class TestWholePlugin:
    def test_every_kind_of_part_is_offered(self) -> None:
        found = host(Whole())
        assert [one.spec.name for one in found.extractors()] == ["acme-ics"]
        assert [one.spec.name for one in found.chunkers()] == ["acme-cut"]
        assert [one.spec.name for one in found.providers()] == ["acme-models"]
        assert [one.spec.name for one in found.stages()] == ["acme-pass", "acme-fresh"]
        assert [one.spec.name for one in found.fetchers()] == ["acme-fetch"]
        assert [one.spec.name for one in found.ocr_engines()] == ["acme-ocr"]

    def test_the_report_says_who_it_is_and_what_it_offers(self) -> None:
        (report,) = host(Whole()).reports
        assert report.to_dict() == {
            "name": "acme",
            "version": "1.0",
            "summary": "A test.",
            "parts": ["acme-ics", "acme-cut", "acme-models", "acme-pass", "acme-fresh", "acme-fetch", "acme-ocr"],
            "enabled": True,
            "builtin": False,
            "failures": [],
        }

    def test_events_reach_the_observer(self) -> None:
        plugin = Whole()
        found = host(plugin)
        found.emit(Warned(message="hello"))
        assert plugin.events == [Warned(message="hello")]

    def test_a_hook_may_take_fewer_arguments(self) -> None:
        calls: list[str] = []

        class Brief(Named):
            @hookimpl
            def lilbee_event(self) -> None:
                calls.append("called")

        host(Brief()).emit(Warned(message="hello"))
        assert calls == ["called"]

    def test_a_hook_may_offer_nothing(self) -> None:
        class Quiet(Named):
            @hookimpl
            def lilbee_extractors(self) -> None:
                return None

        assert host(Quiet()).failures == ()


class TestFinding:
    def test_installed_plugins_come_by_entry_point_name(self, shop: Shop) -> None:
        shop.add("zeta", reading("zeta", "text/x-z"))
        shop.add("acme", reading("acme", "text/x-a"))
        found = PluginHost(entry_points=shop)
        assert [one.name for one in found.reports] == ["acme", "zeta"]
        assert [(one.plugin, one.origin, one.given) for one in found.extractors()] == [
            ("acme", "acme", False),
            ("zeta", "zeta", False),
        ]

    def test_passed_plugins_come_first(self, shop: Shop) -> None:
        shop.add("acme", reading("acme", "text/x-a"))
        found = PluginHost([Named(name="zeta")], entry_points=shop)
        assert [one.name for one in found.reports] == ["zeta", "acme"]

    def test_a_plugin_that_is_passed_and_installed_is_one_plugin(self, shop: Shop) -> None:
        module = shop.add("acme", reading("acme", "text/x-a"))
        __import__(module)
        found = PluginHost([sys.modules[module]], entry_points=shop)
        assert [one.name for one in found.reports] == ["acme"]
        assert [(one.origin, one.given) for one in found.extractors()] == [("acme", True)]
        assert found.failures == ()

    def test_nothing_is_loaded_before_the_first_question(self, shop: Shop) -> None:
        module = shop.add("acme", reading("acme", "text/x-a"))
        found = PluginHost(entry_points=shop)
        assert module not in sys.modules
        assert found.extractors()
        assert module in sys.modules

    def test_plugins_are_loaded_once_by_many_threads(self) -> None:
        calls: list[str] = []

        class Counting(Named):
            @hookimpl
            def lilbee_plugin(self) -> PluginSpec:
                calls.append("called")
                return PluginSpec(name="acme", version="1")

        found = host(Counting())
        threads = [threading.Thread(target=found.load) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert calls == ["called"]

    def test_the_environment_is_the_default_place(self) -> None:
        names = [one.name for one in PluginHost().reports]
        assert names == sorted(names)
        assert list(_finding.installed()) == sorted(_finding.installed(), key=lambda one: one.name)

    def test_a_broken_environment_costs_installed_plugins_only(self) -> None:
        def broken() -> list[EntryPoint]:
            raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

        found = PluginHost([Whole()], entry_points=broken)
        assert len(found.extractors()) == 1
        assert "cannot be listed: UnicodeDecodeError" in only_failure(found).message


class TestDisabled:
    def test_a_disabled_plugin_is_not_even_imported(self, shop: Shop) -> None:
        module = shop.add("acme", reading("acme", "text/x-a"))
        found = PluginHost(disabled=["acme"], entry_points=shop)
        assert found.extractors() == ()
        (report,) = found.reports
        assert (report.name, report.enabled, report.failures) == ("acme", False, ())
        assert module not in sys.modules

    def test_its_own_name_disables_it_too(self, shop: Shop) -> None:
        shop.add("acme", reading("acme", "text/x-a"), point="another-name")
        found = PluginHost(disabled=["acme"], entry_points=shop)
        assert found.extractors() == ()
        assert [(one.name, one.enabled) for one in found.reports] == [("acme", False)]

    def test_a_passed_plugin_can_be_disabled(self) -> None:
        found = host(Whole(), disabled=["acme"])
        assert found.stages() == ()
        assert found.active_stages() == ()


class Misspelled(Named):
    @hookimpl
    def lilbee_extractor(self) -> list[object]:
        return [extractor()]


class WrongArguments(Named):
    @hookimpl
    def lilbee_extractors(self, library: object) -> list[object]:
        return [extractor()]


class Unmarked(Named):
    def lilbee_extractors(self) -> list[object]:
        return [extractor()]


class Wrapper(Named):
    @hookimpl(wrapper=True)
    def lilbee_extractors(self) -> Iterator[None]:
        yield


class Raising(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        raise RuntimeError("no\nluck")


class Exiting(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        sys.exit("bye")


class RaisingMidway(Named):
    @hookimpl
    def lilbee_extractors(self) -> Iterator[object]:
        yield extractor()
        raise KeyError("second")


class NotAList(Named):
    @hookimpl
    def lilbee_extractors(self) -> object:
        return extractor()


class AString(Named):
    @hookimpl
    def lilbee_extractors(self) -> object:
        return "acme-ics"


class Async(Named):
    @hookimpl
    async def lilbee_extractors(self) -> list[object]:
        return [extractor()]


class Nonsense(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        return [42]


class WrongKind(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        return [stage()]


class NoPrefix(Named):
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        return [extractor("ics")]


BROKEN_HOOKS = [
    (Misspelled, "there is no hook lilbee_extractor", "lilbee_extractors?"),
    (WrongArguments, "asks for arguments that lilbee_extractors does not have", "Write it as lilbee_extractors()."),
    (Unmarked, "is not marked as a hook", "@hookimpl"),
    (Wrapper, "is a wrapper", "plain function"),
    (Raising, "lilbee_extractors raised RuntimeError: no luck", "author"),
    (Exiting, "lilbee_extractors raised SystemExit: bye", "author"),
    (RaisingMidway, "lilbee_extractors raised KeyError: 'second'", "author"),
    (NotAList, "returned an ExtractorSpec instead of a list", "author"),
    (AString, "returned a str instead of a list", "author"),
    (Async, "returned a coroutine instead of a list", "author"),
    (Nonsense, "lilbee_extractors returned an int where an ExtractorSpec belongs", "list of ExtractorSpec"),
    (WrongKind, "returned a StageSpec where an ExtractorSpec belongs", "list of ExtractorSpec"),
    (NoPrefix, "the name 'ics' does not start with 'acme-'", "Call it 'acme-ics'."),
]


class TestBrokenHooks:
    @pytest.mark.parametrize(("broken", "message", "hint"), BROKEN_HOOKS, ids=lambda one: getattr(one, "__name__", ""))
    def test_it_costs_only_its_own_parts(self, broken: type[Named], message: str, hint: str) -> None:
        class Mixed(broken):  # type: ignore[misc, valid-type]
            @hookimpl
            def lilbee_search_stages(self) -> list[object]:
                return [stage()]

        found = host(Mixed(), Whole(name="other"))
        assert [one.spec.name for one in found.stages() if one.plugin == "acme"] == ["acme-pass"]
        assert [one.spec.name for one in found.extractors()] == ["other-ics"]
        failure = next(one for one in found.failures if one.plugin == "acme")
        assert message in failure.message
        assert hint in failure.hint
        assert failure.part

    @pytest.mark.parametrize(("broken", "message", "hint"), BROKEN_HOOKS, ids=lambda one: getattr(one, "__name__", ""))
    def test_strict_mode_raises(self, broken: type[Named], message: str, hint: str) -> None:
        strict = host(broken(), strict=True)
        for _ in range(2):
            with pytest.raises(PluginError) as raised:
                strict.extractors()
            assert message in raised.value.message
            assert hint in raised.value.hint
            assert raised.value.code == "plugin.failed"


@dataclass
class NoIdentity:
    @hookimpl
    def lilbee_extractors(self) -> list[object]:
        return [extractor()]


class RaisingIdentity(NoIdentity):
    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        raise OSError("disk")


class NonsenseIdentity(NoIdentity):
    @hookimpl
    def lilbee_plugin(self) -> object:
        return {"name": "acme"}


class NoneIdentity(NoIdentity):
    @hookimpl
    def lilbee_plugin(self) -> None:
        return None


class BadName(NoIdentity):
    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="Acme Corp", version="1")


class OtherApi(NoIdentity):
    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="acme", version="1", api="2")


class WrongIdentity(NoIdentity):
    @hookimpl
    def lilbee_plugin(self, host: object) -> PluginSpec:
        return PluginSpec(name="acme", version="1")


class ABug:
    def __dir__(self) -> list[str]:
        raise ZeroDivisionError


BROKEN_PLUGINS: list[tuple[object, str, str]] = [
    (NoIdentity(), "it has no hook lilbee_plugin", "returns a PluginSpec"),
    (RaisingIdentity(), "lilbee_plugin raised OSError: disk", "author"),
    (NonsenseIdentity(), "lilbee_plugin returned a dict instead of a PluginSpec", "PluginSpec(name="),
    (NoneIdentity(), "lilbee_plugin returned None instead of a PluginSpec", "PluginSpec(name="),
    (BadName(), "'Acme Corp' cannot be a plugin's name", "lower-case"),
    (OtherApi(), "written for version '2' of the hooks, and this is version '1'", "Install a version"),
    (WrongIdentity(), "asks for arguments that lilbee_plugin does not have", "Write it as lilbee_plugin()."),
    (ModuleType("empty"), "it has no hook lilbee_plugin", "returns a PluginSpec"),
    (Whole, "Whole is a class", "Give an instance: Whole()."),
    ("acme", "'acme' is no plugin", "module or an object"),
    (None, "None is no plugin", "module or an object"),
    (ABug(), "it cannot be read: ZeroDivisionError", "author"),
]


class TestBrokenPlugins:
    @pytest.mark.parametrize(("broken", "message", "hint"), BROKEN_PLUGINS, ids=lambda one: type(one).__name__)
    def test_it_costs_only_itself(self, broken: object, message: str, hint: str) -> None:
        found = host(broken, Whole(name="other"), Whole())
        failure = found.failures[0]
        assert message in failure.message
        assert hint in failure.hint
        assert [one.plugin for one in found.extractors()] == ["acme", "other"]

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("import no_such_module_anywhere\n", "cannot be imported: ModuleNotFoundError: No module named"),
            ("def broken(:\n", "cannot be imported: SyntaxError"),
            ("raise SystemExit(3)\n", "cannot be imported: SystemExit: 3"),
            ("1 / 0\n", "cannot be imported: ZeroDivisionError"),
        ],
    )
    def test_import_errors(self, shop: Shop, source: str, message: str) -> None:
        shop.add("bad", source)
        shop.add("good", reading("good", "text/x-g"))
        found = PluginHost(entry_points=shop)
        assert [one.plugin for one in found.extractors()] == ["good"]
        failure = only_failure(found)
        assert message in failure.message
        assert (failure.plugin, failure.hint) == (
            "bad", "Install bad again, uninstall it, or add 'bad' to plugins_disabled.",
        )  # fmt: skip

    @pytest.mark.parametrize("value", ["no_such_module_anywhere", "json:no_such_name", "json:", "not a module!"])
    def test_entry_points_that_lead_nowhere(self, value: str) -> None:
        point = EntryPoint(name="bad", value=value, group="lilbee_core")
        found = PluginHost([Whole()], entry_points=lambda: [point])
        assert len(found.extractors()) == 1
        assert [one.plugin for one in found.failures] == ["bad"]

    def test_an_entry_point_may_lead_to_a_class(self, shop: Shop) -> None:
        module = shop.add("bad", "class Plugin:\n    pass\n")
        shop.points = [EntryPoint(name="bad", value=f"{module}:Plugin", group="lilbee_core")]
        failure = only_failure(PluginHost(entry_points=shop))
        assert (failure.plugin, failure.message) == ("bad", "Plugin is a class")

    def test_the_second_plugin_of_a_name_is_out(self) -> None:
        found = host(Named(), Whole())
        assert found.extractors() == ()
        assert only_failure(found).message == "there is another plugin called 'acme'"

    def test_strict_counts_what_else_is_wrong(self) -> None:
        with pytest.raises(PluginError, match=r"no hook lilbee_plugin \(and 1 more\)"):
            host(NoIdentity(), NoIdentity(), strict=True).load()


class TestClashes:
    def test_the_second_part_of_a_name_is_out(self) -> None:
        class Twice(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor(priority=1), extractor(priority=2)]

        found = host(Twice())
        assert [one.spec.priority for one in found.extractors()] == [1]
        assert "acme offers 'acme-ics' already" in only_failure(found).message

    def test_parts_of_different_kinds_may_share_a_name(self) -> None:
        class Both(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor("acme-x")]

            @hookimpl
            def lilbee_search_stages(self) -> list[object]:
                return [stage("acme-x")]

        assert host(Both()).failures == ()

    def test_the_second_provider_of_a_prefix_is_out(self) -> None:
        class Models(Named):
            @hookimpl
            def lilbee_providers(self) -> list[object]:
                return [provider(prefix="ollama")]

        found = host(Models())
        found.register_builtin("providers", [provider("ollama", prefix="ollama")])
        assert [one.spec.name for one in found.providers()] == ["ollama"]
        assert "providers serves the prefix 'ollama' already" in only_failure(found).message

    def test_a_plugin_cannot_take_the_place_of_a_built_in_group(self) -> None:
        found = host(Named(name="search"))
        found.register_builtin("search", [stage("limit")])
        assert "there is another plugin called 'search'" in only_failure(found).message


class TestBuiltins:
    def test_they_come_first_and_need_no_prefix(self) -> None:
        found = host(Whole())
        found.register_builtin("search", [stage("dense")], version="0.1", summary="Search.")
        first, second = found.reports
        assert (first.name, first.version, first.parts, first.builtin) == ("search", "0.1", ("dense",), True)
        assert second.name == "acme"
        assert next((one.spec.name, one.builtin) for one in found.stages()) == ("dense", True)

    @pytest.mark.parametrize(
        ("bad", "message"),
        [
            (42, "offers an int, which is no spec"),
            (stage("Bad Name"), "'Bad Name' cannot be a name"),
            (stage("dense"), "search offers 'dense' already"),
        ],
    )
    def test_a_bad_one_is_a_bug(self, bad: Any, message: str) -> None:
        found = host()
        found.register_builtin("search", [stage("dense")])
        with pytest.raises(ValueError, match=message):
            found.register_builtin("more", [bad])

    def test_they_are_registered_before_plugins(self) -> None:
        found = host()
        found.load()
        with pytest.raises(ValueError, match="before plugins are loaded"):
            found.register_builtin("search", [])

    def test_they_have_options_too(self) -> None:
        found = host(options={"search": {"min_chars": 5}})
        found.register_builtin("search", [stage("dense", options=AcmeOptions)])
        assert found.stages()[0].options["min_chars"] == 5


class TestOptions:
    def test_they_are_validated_and_filled_up(self) -> None:
        (first, second) = host(Whole(), options={"acme": {"min_chars": "7", "half_life_days": 2}}).stages()
        assert first.options["min_chars"] == 7
        assert second.options == {"half_life_days": 2.0}

    def test_parts_without_a_model_get_none(self) -> None:
        assert host(Whole(), options={"acme": {"min_chars": 7}}).fetchers()[0].options == {}

    @pytest.mark.parametrize(
        ("tables", "message", "hint"),
        [
            ({"acme": {"half_life_days": -1}}, "the option half_life_days -1 is not allowed: Input should be greater",
             "Change half_life_days in [plugins.acme]."),
            ({"acme": {"half_life": 3}}, "there is no option 'half_life'", "Did you mean half_life_days?"),
            ({"acme": {"colour": "red"}}, "there is no option 'colour'", "Remove it from [plugins.acme]."),
            ({"acne": {}}, "[plugins.acne] belongs to no plugin", "Did you mean [plugins.acme]?"),
            ({"weather": {}}, "[plugins.weather] belongs to no plugin", "Install the plugin, or remove the table."),
        ],
    )  # fmt: skip
    def test_bad_ones_are_reported(self, tables: Tables, message: str, hint: str) -> None:
        found = host(Whole(), options=tables)
        assert len(found.extractors()) == 1
        failure = only_failure(found)
        assert message in failure.message
        assert failure.hint == hint

    def test_bad_ones_cost_only_the_part_that_reads_them(self) -> None:
        found = host(Whole(), options={"acme": {"half_life_days": "soon"}})
        assert [one.spec.name for one in found.stages()] == ["acme-pass"]
        assert only_failure(found).part == "acme-fresh"

    def test_secrets_stay_untold(self) -> None:
        found = host(Whole(), options={"acme": {"key": ["hunter2"]}})
        assert found.failures
        assert not any("hunter2" in one.message for one in found.failures)

    def test_a_missing_one_is_named(self) -> None:
        class Needs(AcmeOptions):
            place: str

        class Demanding(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor(options=Needs)]

        failure = only_failure(host(Demanding()))
        assert (failure.message, failure.hint) == ("the option place is missing", "Set place in [plugins.acme].")

    def test_a_model_that_raises_costs_its_part(self) -> None:
        class Weird(AcmeOptions):
            @classmethod
            def model_validate(cls, *arguments: object, **more: object) -> Any:
                raise RuntimeError("weird")

        class Offering(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor(options=Weird)]

        assert "its options cannot be read: weird" in only_failure(host(Offering())).message

    def test_options_that_do_not_go_together_are_told(self) -> None:
        class Pair(BaseModel):
            low: int = 1
            high: int = 2

            @model_validator(mode="after")
            def _ordered(self) -> Pair:
                if self.low >= self.high:
                    raise ValueError("low must be below high")
                return self

        class Paired(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor(options=Pair)]

        failure = only_failure(host(Paired(), options={"acme": {"low": 5}}))
        assert failure.message == "its options do not go together: Value error, low must be below high"
        assert failure.to_dict()["hint"] == "Change [plugins.acme]."

    def test_an_alias_may_be_used(self) -> None:
        class Aliased(BaseModel):
            min_chars: int = Field(default=1, alias="least", ge=1)

        class Short(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor(options=Aliased)]

        assert host(Short(), options={"acme": {"least": 3}}).extractors()[0].options == {"min_chars": 3}
        failure = only_failure(host(Short(), options={"acme": {"least": 0}}))
        assert failure.message.startswith("the option least is not allowed: Input should be greater")

    def test_a_model_may_take_anything(self) -> None:
        class Open(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor(options=AnyOptions)]

        found = host(Open(), options={"acme": {"colour": "red"}})
        assert found.extractors()[0].options == {"colour": "red"}
        assert found.failures == ()

    def test_the_table_of_a_disabled_plugin_is_left_alone(self) -> None:
        assert host(Whole(), disabled=["acme"], options={"acme": {"colour": "red"}}).failures == ()


class TestStages:
    def test_installed_stages_wait_until_they_are_named(self, shop: Shop) -> None:
        source = who("acme") + (
            "\n@hookimpl\ndef lilbee_search_stages():\n"
            "    return [StageSpec(name=f'acme-{one}', place=before('limit'), build=build) for one in 'ba']\n"
        )
        shop.add("acme", source)
        found = PluginHost(entry_points=shop)
        assert len(found.stages()) == 2
        assert found.active_stages() == ()
        assert [one.spec.name for one in found.active_stages(["acme-b"])] == ["acme-b"]
        assert [one.spec.name for one in found.active_stages(["acme-b", "acme-a"])] == ["acme-a", "acme-b"]

    def test_stages_of_passed_plugins_are_active(self) -> None:
        assert [one.spec.name for one in host(Whole()).active_stages()] == ["acme-fresh", "acme-pass"]

    def test_built_in_stages_are_not_among_them(self) -> None:
        found = host()
        found.register_builtin("search", [stage("dense")])
        assert found.active_stages() == ()

    def test_a_name_that_nobody_offers_is_reported(self) -> None:
        found = host(Whole())
        assert len(found.active_stages(["acme-pas", "zzz"])) == 2
        assert [(one.part, one.hint) for one in found.failures] == [
            ("acme-pas", "Did you mean 'acme-pass'?"),
            ("zzz", "Install its plugin, or take 'zzz' out."),
        ]

    def test_a_name_that_nobody_offers_raises_in_strict_mode(self) -> None:
        with pytest.raises(PluginError, match="search_stages names 'zzz'"):
            host(strict=True).active_stages(["zzz"])


class TestRanking:
    def test_priority_then_name(self) -> None:
        class Readers(Named):
            @hookimpl
            def lilbee_extractors(self) -> list[object]:
                return [extractor("acme-c"), extractor("acme-a"), extractor("acme-b", priority=5)]

        assert [one.spec.name for one in host(Readers()).extractors()] == ["acme-b", "acme-a", "acme-c"]


class TestAttempt:
    def offer(self, **more: object) -> Offer[Any]:
        return Offer(spec=stage(**more), plugin="acme")

    def test_a_good_one_is_returned(self) -> None:
        found = host(Whole())
        (offer, _) = found.stages()
        made = found.attempt(offer, lambda: offer.spec.build(offer.options, None))  # type: ignore[arg-type]
        assert made == Pass(20)

    @pytest.mark.parametrize(
        ("error", "hint"),
        [
            (ProviderUnavailable("server is down", hint="Start it."), "Start it."),
            (RuntimeError("server is down"), "Ask its author."),
            (SystemExit("server is down"), "Ask its author."),
        ],
    )
    def test_what_it_raises_is_reported(self, error: BaseException, hint: str) -> None:
        def build() -> object:
            raise error

        found = host(Whole())
        assert found.attempt(found.stages()[0], build) is None
        failure = only_failure(found)
        assert (failure.plugin, failure.part, failure.hint) == ("acme", "acme-pass", hint)
        assert "server is down" in failure.message

    def test_strict_mode_raises_it_with_its_cause(self) -> None:
        found = host(Whole(), strict=True)
        with pytest.raises(PluginError, match="cannot be built") as raised:
            found.attempt(found.stages()[0], refuse)
        assert isinstance(raised.value.__cause__, AssertionError)

    @pytest.mark.parametrize(
        ("kind", "missing"),
        [
            ("extractors", "name, version, in_process, extract"),
            ("chunkers", "fingerprint, split"),
            ("stages", "name, reads, writes, run"),
            ("fetchers", "fetch"),
            ("ocr_engines", "name, recognize"),
            ("providers", "embed, rank, chat or read"),
        ],
    )
    def test_nonsense_is_reported(self, kind: str, missing: str) -> None:
        found = host(Whole())
        assert found.attempt(getattr(found, kind)()[0], object) is None
        assert only_failure(found).message == f"build made an object without {missing}"

    def test_a_provider_needs_one_method_only(self) -> None:
        class Embeds:
            def embed(self) -> None: ...

        made = Embeds()
        found = host(Whole())
        assert found.attempt(found.providers()[0], lambda: made) is made

    def test_built_ins_are_not_shielded(self) -> None:
        found = host()
        with pytest.raises(AssertionError):
            found.attempt(Offer(spec=stage("dense"), plugin="search", builtin=True), refuse)


class TestEvents:
    def test_a_raising_observer_is_dropped_after_a_report(self) -> None:
        calls: list[Event] = []

        class Grumpy(Named):
            @hookimpl
            def lilbee_event(self, event: Event) -> None:
                calls.append(event)
                raise RuntimeError("no")

        other = Whole(name="other")
        found = host(Grumpy(), other)
        for _ in range(3):
            found.emit(Warned(message="hello"))
        assert len(calls) == 1
        assert len(other.events) == 3
        failure = next(one for one in found.failures if one.plugin == "acme")
        assert failure.part == "lilbee_event"
        assert failure.message == "lilbee_event raised RuntimeError: no at Warned and is called no more"

    def test_an_observer_that_calls_itself_is_dropped_once(self) -> None:
        class Echo(Named):
            @hookimpl
            def lilbee_event(self, event: Event) -> None:
                if event == Warned(message="first"):
                    found.emit(Warned(message="second"))
                raise RuntimeError("no")

        found = host(Echo())
        found.emit(Warned(message="first"))
        found.emit(Warned(message="first"))
        assert len(found.failures) == 1

    def test_strict_mode_raises(self) -> None:
        class Grumpy(Named):
            @hookimpl
            def lilbee_event(self, event: Event) -> None:
                raise RuntimeError("no")

        with pytest.raises(PluginError, match="lilbee_event raised RuntimeError"):
            host(Grumpy(), strict=True).emit(Warned(message="hello"))


class TestFail:
    def test_the_part_tells_whose_failure_it_is(self) -> None:
        found = host(Whole())
        found.load()
        found.fail(PluginFailure(plugin="", part="acme-pass", message="broke"))
        assert only_failure(found).plugin == "acme"

    def test_the_same_one_is_kept_once(self) -> None:
        found = host(Whole())
        for _ in range(3):
            found.fail(PluginFailure(plugin="acme", message="broke"))
        assert only_failure(found).message == "broke"

    def test_an_unknown_one_is_kept_too(self) -> None:
        found = host()
        found.fail(PluginFailure(plugin="gone", message="broke"))
        assert [one.name for one in found.reports] == ["gone"]


class TestSlow:
    def test_slow_registration_is_reported_and_costs_nothing(self) -> None:
        ticks = iter(range(0, 1000, 3))
        found = host(Whole(), timer=lambda: float(next(ticks)))
        assert len(found.extractors()) == 1
        assert only_failure(found).message == "it took 3.0 s to register, and more than 1 s is slow"

    def test_slow_import_counts(self, shop: Shop) -> None:
        shop.add("acme", reading("acme", "text/x-a"))
        ticks = iter([0.0, 5.0, 5.0, 5.1])
        failure = only_failure(PluginHost(entry_points=shop, timer=lambda: next(ticks)))
        assert failure.message == "it took 5.1 s to register, and more than 1 s is slow"


WORKER = """
import json, logging, sys
logging.basicConfig()
from lilbee_core.plugins import load_entry_points
offers = load_entry_points(json.loads(sys.argv[1]), options={"acme": {}})
print(json.dumps([[one.spec.name, one.plugin, one.origin] for one in offers]))
"""


class TestWorkers:
    def test_another_process_finds_the_same_extractors(self, tmp_path: Path) -> None:
        (tmp_path / "acme_reader.py").write_text(reading("acme", "text/x-a"), encoding="utf-8")
        (tmp_path / "zeta_reader.py").write_text(reading("zeta", "text/x-z"), encoding="utf-8")
        info = tmp_path / "acme-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n", encoding="utf-8")
        points = "[lilbee_core]\nacme = acme_reader\nother = no_such_module_anywhere\n"
        (info / "entry_points.txt").write_text(points, encoding="utf-8")
        result = subprocess.run(
            [sys.executable, "-c", WORKER, '["acme", "other", "module:zeta_reader", "module:gone"]'],
            env={"PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert result.stdout.split("\n")[0] == (
            '[["acme-reader", "acme", "acme"], ["zeta-reader", "zeta", "module:zeta_reader"]]'
        )
        assert "no_such_module_anywhere" in result.stderr

    def test_origins_come_from_the_offers(self, shop: Shop) -> None:
        module = shop.add("acme", reading("acme", "text/x-a"))
        __import__(module)
        (offer,) = host(sys.modules[module]).extractors()
        assert offer.origin == f"module:{module}"
        (again,) = load_entry_points([offer.origin])
        assert again.spec == offer.spec
        assert not again.given

    def test_a_module_that_is_gone_is_logged(self, caplog: pytest.LogCaptureFixture) -> None:
        assert load_entry_points(["module:no_such_module_anywhere"]) == ()
        assert "no_such_module_anywhere cannot be imported here" in caplog.text

    def test_objects_have_no_origin(self) -> None:
        assert host(Whole()).extractors()[0].origin == ""


def test_the_host_loads_pluggy_only_when_there_is_a_plugin() -> None:
    code = (
        "import sys\n"
        "from lilbee_core.plugins.host import PluginHost\n"
        "host = PluginHost(entry_points=list)\n"
        "assert host.extractors() == ()\n"
        "assert 'pluggy' not in sys.modules and 'pydantic' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_package_names_what_it_has() -> None:
    import lilbee_core.plugins as package

    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = package.nothing
