"""Tesseract, the program of the system, as an engine that recognizes text on pictures."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from lilbee_core.errors import ExtractError
from lilbee_core.extract._columns import join_lines
from lilbee_core.extract._hyphens import Hyphens
from lilbee_core.protocols import OcrPage

_MEMORY_BYTES = 3 * 1024**3
_LIST_LIMIT_S = 20.0
_WORD = "5"
_ORIENTATION = "osd"
_CODES = {
    "af": "afr", "ar": "ara", "be": "bel", "bg": "bul", "bn": "ben", "ca": "cat", "cs": "ces", "cy": "cym", "da": "dan",
    "de": "deu", "el": "ell", "en": "eng", "es": "spa", "et": "est", "eu": "eus", "fa": "fas", "fi": "fin", "fr": "fra",
    "ga": "gle", "gl": "glg", "he": "heb", "hi": "hin", "hr": "hrv", "hu": "hun", "id": "ind", "is": "isl", "it": "ita",
    "ja": "jpn", "ka": "kat", "kn": "kan", "ko": "kor", "la": "lat", "lt": "lit", "lv": "lav", "mk": "mkd", "ml": "mal",
    "mr": "mar", "ms": "msa", "nl": "nld", "no": "nor", "nb": "nor", "pl": "pol", "pt": "por", "ro": "ron", "ru": "rus",
    "sk": "slk", "sl": "slv", "sq": "sqi", "sr": "srp", "sv": "swe", "sw": "swa", "ta": "tam", "te": "tel", "th": "tha",
    "tr": "tur", "uk": "ukr", "ur": "urd", "vi": "vie", "zh": "chi_sim", "zh-tw": "chi_tra",
}  # fmt: skip


class Tesseract:
    """Runs the program once per page, each time in a process of its own. Threads may share it."""

    name = "tesseract"

    def __init__(self, command: str) -> None:
        """Take the program, as `find_tesseract` returns it."""
        self._command = command

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        """Return the text of a picture, line by line, with the mean confidence of its words.

        Raises:
            ExtractError: If the program fails, takes too long or knows none of the languages.
        """
        known = self._known(languages)
        # 1 finds out how the page is turned, which needs data of its own; 3 takes it as it lies.
        layout = "1" if _ORIENTATION in self.languages else "3"
        table = self._run(
            ["stdin", "stdout", "-l", "+".join(known), "--psm", layout, "-c", "tessedit_create_tsv=1"], image, timeout_s
        )
        return read_table(table)

    @cached_property
    def languages(self) -> frozenset[str]:
        """What is installed, in the program's own codes."""
        told = self._run(["--list-langs"], b"", _LIST_LIMIT_S)
        return frozenset(line.strip() for line in told.splitlines()[1:] if line.strip())

    def _known(self, languages: Sequence[str]) -> list[str]:
        wanted = [_CODES.get(one.lower(), one) for one in languages] or ["eng"]
        known = [one for one in dict.fromkeys(wanted) if one in self.languages]
        if not known:
            raise ExtractError(
                f"Tesseract has no data for {', '.join(wanted)}",
                hint=f"Install its language data (Debian: apt install tesseract-ocr-{wanted[0].replace('_', '-')}), "
                "or set ocr_languages to what is installed.",
            )
        return known

    def _run(self, arguments: Sequence[str], data: bytes, timeout_s: float) -> str:
        try:
            process = subprocess.Popen(
                [self._command, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=_environment(),
                start_new_session=sys.platform != "win32",
            )
        except OSError as error:
            raise ExtractError(f"Tesseract cannot be started: {error.strerror or error}") from error
        with process:
            _limit_memory(process.pid)
            try:
                out, noise = process.communicate(data, timeout=timeout_s)
            except subprocess.TimeoutExpired as error:
                raise ExtractError(
                    f"the text was not recognized within {timeout_s:g} seconds", hint="Raise ocr_timeout_s."
                ) from error
            finally:
                process.kill()
        if process.returncode != 0:
            last = noise.decode("utf-8", "replace").strip().splitlines()[-1:] or [f"exit {process.returncode}"]
            raise ExtractError(f"Tesseract failed: {last[0][:200]}")
        return out.decode("utf-8", "replace")


def find_tesseract() -> str | None:
    """Return where the program is, None if it is not installed."""
    return shutil.which("tesseract")


def _environment() -> Mapping[str, str]:
    # Pages are read side by side; threads inside of one only get into each other's way.
    return {**os.environ, "OMP_THREAD_LIMIT": "1"}  # noqa: TID251 - for a child process


def _limit_memory(pid: int) -> None:
    if sys.platform != "linux":
        return
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.prlimit(pid, resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))


def read_table(table: str) -> OcrPage:
    """Read the program's table of words: lines as lines, blocks with a blank line between them."""
    lines: dict[tuple[str, str], list[tuple[str, list[str]]]] = {}
    weight = total = 0.0
    for place, confidence, word in _words(table):
        page, block, *_ = place
        inside = lines.setdefault((page, block), [])
        line = "\t".join(place)
        if not inside or inside[-1][0] != line:
            inside.append((line, []))
        inside[-1][1].append(word)
        weight += confidence * len(word)
        total += len(word)
    texts = [[" ".join(words) for _, words in block] for block in lines.values()]
    hyphens = Hyphens("\n".join(text) for text in texts)
    blocks = [join_lines(text, hyphens) for text in texts]
    return OcrPage(text="\n\n".join(blocks), confidence=round(weight / total / 100, 4) if total else 0.0)


def _words(table: str) -> Iterator[tuple[list[str], float, str]]:
    for row in table.splitlines()[1:]:
        cells = row.split("\t")
        if len(cells) < 12 or cells[0] != _WORD or not cells[11].strip():
            continue
        try:
            confidence = float(cells[10])
        except ValueError:
            continue
        yield cells[1:5], max(0.0, confidence), cells[11].strip()
