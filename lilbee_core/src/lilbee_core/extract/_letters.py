"""The letters of a text with their places, so that pieces are found whatever their spaces, breaks and ligatures."""

from __future__ import annotations

import unicodedata


def letters_of(text: str) -> str:
    """Return only letters and digits, folded."""
    if text.isascii():
        return "".join(char for char in text.lower() if char.isalnum())
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


class Letters:
    """Finds pieces in a text."""

    def __init__(self, text: str) -> None:
        places: list[int] = []
        found: list[str] = []
        for at, char in enumerate(text):
            for letter in char.lower() if char.isascii() else unicodedata.normalize("NFKC", char).casefold():
                if letter.isalnum():
                    found.append(letter)
                    places.append(at)
        self._letters = "".join(found)
        self._places = places

    def __len__(self) -> int:
        return len(self._letters)

    def find(self, piece: str, cursor: int = 0, within: int | None = None) -> tuple[int, int] | None:
        """Return where the letters of a piece begin and end, counted in letters, at or behind `cursor`."""
        wanted = letters_of(piece)
        if not wanted:
            return None
        last = len(self._letters) if within is None else min(len(self._letters), cursor + within + len(wanted))
        at = self._letters.find(wanted, cursor, last)
        return (at, at + len(wanted)) if at >= 0 else None

    def starts(self, piece: str, cursor: int) -> bool:
        """Say whether the letters of a piece stand at `cursor`."""
        wanted = letters_of(piece)
        return bool(wanted) and self._letters.startswith(wanted, cursor)

    def place(self, letter: int) -> int:
        """Return where in the text a letter stands."""
        return self._places[letter]
