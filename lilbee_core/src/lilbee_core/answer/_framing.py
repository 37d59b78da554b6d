"""What stands around what a document says: headers, greetings and closings of mail, lead-ins, lines like headings."""

from __future__ import annotations

import re

from lilbee_core.answer._sentences import Sentence

_HEADER = re.compile(
    r"(?:from|to|cc|bcc|subject|date|sent|reply-to|message-id|von|an|betreff|gesendet|datum|de|à|objet|envoyé|para|"
    r"asunto|enviado|fecha)\s?:(?:\s|$)",
    re.IGNORECASE,
)
# These stand at the head of a mail even alone: a note may well have one line that begins with "Date:" or "To:".
_TELLTALE = re.compile(r"(?:from|subject|reply-to|message-id|betreff|objet|asunto)\s?:\s", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?i:(?:(?:with|mit)\s)?(?:(?:best|kind|kindest|warm|warmest|many)\s)?(?:regards|wishes|thanks|greetings)"
    r"|cheers|sincerely|yours\s(?:sincerely|faithfully|truly)|love|thank\syou|all\sthe\sbest"
    r"|(?:mit\s)?(?:freundlichen?|vielen?|lieben?|besten?|herzlichen?)\s(?:grüßen?|grüssen?|dank)|gruß"
    r"|(?:bien\s)?cordialement|bien\sà\svous|amitiés|(?:un\s)?saludos?|atentamente|(?:cordiali|distinti)\ssaluti)"
    r"[,.!]?(?:\s*$|[ \t]*\n|[ \t]+(?:[^\W\d_a-z][\w.'’-]*[ \t]*){1,4}(?:\n|$))|--[ \t]*(?:\n|$)"
)
_GREETING = re.compile(
    r"(?:hi|hello|dear|hey|hallo|liebe[rs]?|sehr\sgeehrte[rs]?|bonjour|chère?|hola|estimad[oa])\b[^.!?:\n]{0,40}[,!]",
    re.IGNORECASE,
)
_LEADS_IN = re.compile(r"(?:who|whose|whom|what|when|where|why|how|which)(?:\s[^\s,;:?\d]+){1,6}[.:]?", re.IGNORECASE)
_STOP = re.compile(r"[.!?…。！？।][\"'”’»)\]」』]*$")
_LONGEST_CLOSING, _LONGEST_HEADING, _WORDS_OF_HEADING = 200, 60, 8


def is_framing(sentence: Sentence) -> bool:
    """Tell whether the sentence is no evidence: a header block, a greeting, a closing or what leads the next one in."""
    text = sentence.text.strip()
    return _is_header(text) or _is_farewell(text) or _GREETING.fullmatch(text) is not None or _leads_in(sentence)


def is_like_heading(sentence: Sentence) -> bool:
    """Tell whether the sentence may be a heading that nothing marks: a short line without a stop over a paragraph."""
    text, whole, end = sentence.text.strip(), sentence.hit.chunk.text, sentence.span.end
    if "\n" in text or len(text) > _LONGEST_HEADING or len(text.split()) > _WORDS_OF_HEADING or _STOP.search(text):
        return False
    line = whole[whole.rfind("\n", 0, sentence.span.start) + 1 : sentence.span.start]
    behind = whole[end:]
    return not line.strip() and bool(re.match(r"[ \t]*\n[ \t]*\n[ \t]*\S", behind))


def _is_header(text: str) -> bool:
    lines = text.splitlines()
    headers = sum(_HEADER.match(line) is not None for line in lines)
    # The first line may be the end of one that was cut at a stop within it.
    return headers >= max(len(lines) - 1, 2) or (len(lines) == 1 and _TELLTALE.match(text) is not None)


def _is_farewell(text: str) -> bool:
    return len(text) <= _LONGEST_CLOSING and _CLOSING.match(text) is not None


def _leads_in(sentence: Sentence) -> bool:
    """Tell whether it ends at a colon, or is half a question with the answer behind it: "Whose swarm it is."."""
    text, behind = sentence.text.strip(), sentence.hit.chunk.text[sentence.span.end :]
    if not behind.strip():
        return False
    return text.endswith((":", "：")) or (_LEADS_IN.fullmatch(text) is not None and not text.endswith("?"))
