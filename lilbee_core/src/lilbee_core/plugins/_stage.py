"""A plugin's search stage, with every failure under the plugin's name."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import cast

from lilbee_core.errors import Cancelled, LilbeeError, StageError
from lilbee_core.plugins._finding import told
from lilbee_core.protocols import SearchContext, SearchStage
from lilbee_core.types import Part, SearchState

log = logging.getLogger("lilbee_core.plugins")


@dataclass(frozen=True, slots=True)
class PluginStage:
    """Runs the stage of a plugin; whatever goes wrong is a `StageError` that says whose fault it is."""

    stage: SearchStage
    plugin: str

    @property
    def name(self) -> str:
        return self.stage.name

    @property
    def reads(self) -> frozenset[Part]:
        return self.stage.reads

    @property
    def writes(self) -> frozenset[Part]:
        return self.stage.writes

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        try:
            result = self.stage.run(state, context)
        except Cancelled:
            raise
        except (Exception, SystemExit) as error:
            log.debug("the stage %s failed", self.name, exc_info=True)
            reason = error.message if isinstance(error, LilbeeError) else told(error)
            raise self._error(f"failed: {reason}") from error
        # A plugin need not have been checked by anything.
        if not isinstance(cast("object", result), SearchState):
            raise self._error(f"returned {type(result).__name__} instead of a SearchState")
        return result

    def _error(self, what: str) -> StageError:
        return StageError(
            f"the stage {self.name} of the plugin {self.plugin} {what}",
            hint=f"Take {self.name} out of search_stages, or ask the plugin's author.",
        )
