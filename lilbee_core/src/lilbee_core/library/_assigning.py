"""Whether a model can have the role that a setting gives it, looked at before the setting is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.errors import SettingsError
from lilbee_core.library._fleet import ROLE_SETTINGS, model_folder
from lilbee_core.types import ModelRef

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts
    from lilbee_core.settings import Settings

_ROLES = {setting: role for role, setting in ROLE_SETTINGS.items()}


def check_assignment(parts: Parts, name: str, settings: Settings) -> None:
    """Make sure that the model which a setting names can do what the setting wants of it.

    A model file that is not here yet may be named: it may be fetched later.

    Raises:
        SettingsError: If its provider does not serve the role, or its file or server says that it is for another.
    """
    role = _ROLES.get(name)
    if role is None:
        return
    from lilbee_core.library._models import build_router

    with build_router(settings, parts.host, lambda: None, fleet=lambda: parts.fleet) as router:
        ref = router.check(role)
    if ref is None:
        return
    if ref.provider == "gguf":
        _check_file(ref, role, name, settings)
    elif settings.models.llm_provider != "remote":
        _check_served(ref, role, name, settings)


def _check_served(ref: ModelRef, role: str, name: str, settings: Settings) -> None:
    """Ask a server of this machine, if it runs and tells."""
    from lilbee_core.providers import local_roles

    options = settings.models
    roles = local_roles(ref, ollama_base_url=options.ollama_base_url, lm_studio_base_url=options.lm_studio_base_url)
    if roles and role not in roles:
        raise SettingsError(
            f"{name} cannot be {ref}: its server says that it serves {' and '.join(sorted(roles))}",
            hint="Choose another model of it, or fetch one: `lilbee model list` shows what is here.",
        )


def _check_file(ref: ModelRef, role: str, name: str, settings: Settings) -> None:
    entry = model_folder(settings).get(ref.name)
    if entry is None:
        return
    if entry.problem:
        raise SettingsError(
            f"{name} cannot be {ref}: {entry.problem}", hint="Choose another model: `lilbee model list`."
        )
    if role not in entry.roles:
        serves = " and ".join(entry.roles)
        why = (
            f"{ref} has no projector beside it" if role == "vision" and "chat" in entry.roles else f"it serves {serves}"
        )
        raise SettingsError(
            f"{name} cannot be {ref}: {why}",
            hint=f"Choose another model: `lilbee model list --task {role}`, or `lilbee model catalog --task {role}`.",
        )
