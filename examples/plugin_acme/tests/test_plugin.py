"""The plugin as a whole: quiet, quick, well named; and what it does in a library."""

import acme_lilbee.plugin
import pytest

from lilbee_core.plugins import PluginHost
from lilbee_core.testing.contracts import PluginContract


class TestPlugin(PluginContract):
    """The public checks for every plugin."""

    def make(self):
        return acme_lilbee.plugin

    def options(self):
        return {"half_life_days": 30, "weight": 0.5}


def test_options_reach_the_stage():
    host = PluginHost([acme_lilbee.plugin], options={"acme": {"half_life_days": 7}}, entry_points=list)
    (offer,) = host.stages()
    stage = host.attempt(offer, lambda: offer.spec.build(offer.options, None))
    assert (stage.half_life_days, stage.weight) == (7, 0.3)


@pytest.mark.parametrize("options", [{"half_life_days": 0}, {"weight": 2}, {"half_live_days": 7}])
def test_bad_options_are_reported(options):
    host = PluginHost([acme_lilbee.plugin], options={"acme": options}, entry_points=list)
    (failure,) = host.failures
    assert "[plugins.acme]" in failure.hint or "half_life_days" in failure.hint
