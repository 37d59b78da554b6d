"""Names of models and of their files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lilbee_core.errors import InvalidArgument
from lilbee_core.types import ModelFile

_REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")
PART = re.compile(r"-(\d{5})-of-(\d{5})\.gguf$", re.IGNORECASE)
"""The end of the name of a part of a model: its number, and how many there are."""
_QUANTIZATION = re.compile(
    r"(?:^|[-_./])((?:UD-)?(?:I?Q\d[\w]*|BF16|F16|F32|MXFP4[\w]*|TQ\d_\d))(?=[-.]|$)", re.IGNORECASE
)
_PREFERRED = (
    "Q4_K_M",
    "Q5_K_M",
    "Q4_K_S",
    "Q4_K_L",
    "MXFP4",
    "IQ4_XS",
    "Q4_0",
    "Q5_K_S",
    "Q6_K",
    "Q8_0",
    "F16",
    "BF16",
)
_PROJECTORS = ("F16", "Q8_0", "BF16", "F32")
ROLE_WORDS = {
    "chat": "chat",
    "embed": "embed",
    "embedding": "embed",
    "rerank": "rerank",
    "reranker": "rerank",
    "vision": "vision",
}
"""What people call the roles."""


@dataclass(frozen=True, slots=True)
class HubRef:
    """A model on the hub: a repository, and a file in it or the quantization that is wanted."""

    repo: str
    file: str = ""
    quantization: str = ""

    @classmethod
    def parse(cls, text: str) -> HubRef:
        """Split ``owner/repository``, ``owner/repository:Q4_K_M`` or ``owner/repository/file.gguf``.

        Raises:
            InvalidArgument: If it is none of them.
        """
        value = text.strip().removeprefix("hf.co/").removeprefix("https://huggingface.co/")
        name, _, quantization = value.partition(":")
        owner, _, rest = name.partition("/")
        repo, _, file = rest.partition("/")
        whole = f"{owner}/{repo}"
        if not _REPO.fullmatch(whole) or (file and not is_safe(file)) or ":" in quantization or (file and quantization):
            raise InvalidArgument(
                f"{text!r} names no model on the hub",
                hint="Write owner/repository, owner/repository:Q4_K_M or owner/repository/file.gguf; "
                "`lilbee model catalog WORDS` looks for some.",
            )
        return cls(whole, file, quantization)

    def __str__(self) -> str:
        return self.repo + (f"/{self.file}" if self.file else f":{self.quantization}" if self.quantization else "")


def is_safe(file: str) -> bool:
    """Whether a name from elsewhere stays inside of the folder it is put into, and is a model file."""
    parts = file.split("/")
    return file.lower().endswith(".gguf") and all(
        part and part not in {".", ".."} and not re.search(r'[\\:*?"<>|\x00-\x1f]', part) for part in parts
    )


def role_of(word: str) -> str:
    """Return a role by what people call it.

    Raises:
        InvalidArgument: If there is no such role.
    """
    found = ROLE_WORDS.get(word.strip().lower())
    if found is None:
        raise InvalidArgument(f"there is no task {word!r}", hint="Choose chat, embedding, reranker or vision.")
    return found


def quantization_of(name: str) -> str:
    """Return the quantization that a file name tells, or an empty text."""
    found = _QUANTIZATION.findall(name)
    return str(found[-1]).upper() if found else ""


def is_projector(name: str) -> bool:
    """Whether a file is the projector of a vision model."""
    return "mmproj" in name.lower()


def is_later_part(name: str) -> bool:
    """Whether a file is a part of a model, and not its first one."""
    match = PART.search(name)
    return match is not None and int(match.group(1)) != 1


def parts_of(files: Sequence[ModelFile], first: ModelFile) -> tuple[ModelFile, ...]:
    """Return all parts of a model by its first one; of a model in one file that file."""
    match = PART.search(first.name)
    if match is None:
        return (first,)
    stem, count = first.name[: match.start()], match.group(2)
    return tuple(
        sorted(
            (one for one in files if re.fullmatch(rf"{re.escape(stem)}-\d{{5}}-of-{count}\.gguf", one.name)),
            key=lambda one: one.name,
        )
    )


def choose(files: Sequence[ModelFile], quantization: str = "") -> ModelFile | None:
    """Return the file to take of a repository: of the wanted quantization, else the best known one."""
    models = [one for one in files if not is_projector(one.name) and not is_later_part(one.name)]
    if quantization:
        wanted = quantization.upper()
        return next((one for one in models if quantization_of(one.name) in {wanted, f"UD-{wanted}"}), None)
    return min(models, key=lambda one: (_place(one.name, _PREFERRED), one.size_bytes, one.name), default=None)


def choose_projector(files: Sequence[ModelFile]) -> ModelFile | None:
    """Return the projector to take of a repository, or None if it has none."""
    found = [one for one in files if is_projector(one.name)]
    return min(found, key=lambda one: (_place(one.name, _PROJECTORS), one.name), default=None)


def _place(name: str, order: Sequence[str]) -> int:
    found = quantization_of(name).removeprefix("UD-")
    return order.index(found) if found in order else len(order)
