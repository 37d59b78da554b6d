"""What asks and joins in scripts without blanks, where no blank parts it from what is asked about.

Where other scripts have function words, these have stretches of a run: particles and endings in kana behind a word of
Japanese, question words in Chinese and Thai, endings in Korean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

Span = tuple[int, int]

_HIRAGANA = re.compile("[\u3041-\u3096]+")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_THAI = re.compile("[\u0e01-\u0e4e]")
_HAN = re.compile("[\u4e00-\u9fff]")

_PARTICLES = "[のはがをにへとでもやかねよ]"
_ASKS = (
    "いくら|いくつ|いつ|どこ|どれ|どの|どう|どんな|どちら|どなた|どのように|だれ|なぜ|なに|なん|くらい|ぐらい|ほど|やって|すれば|"
    "ですか|でしょうか|でしたか|です|でした|でしょう|ました|ません|ます|あり|います|いる|ある|する|した|して|され|しています|"
    "されました|ていますか|ています|でき|できる|なり|なる|なった|かかり|かかる|かかった|"
    "ください|について|とは|という|これ|それ|この|その|こと|から|まで|より|など|だけ"
)
_JAPANESE = re.compile(f"(?:{_ASKS})(?:{_ASKS}|{_PARTICLES})*")
_BEHIND_A_WORD = re.compile(f"(?:{_ASKS}|{_PARTICLES})+")
_JAPANESE_HAN = re.compile("何(?:時間|曜日|年間|日間|か月|ヶ月)?|誰|教えて(?:ください|下さい)?|下さい")
_CHINESE = re.compile(
    "为什么|為什麼|什么时候|什麼時候|什么|什麼|多少[钱錢]?|多[久长長大高远遠]|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|如何|是否|"
    "哪[里裡儿兒个個些]?|谁|誰|几(?!何)[点個个天年月号]?|幾(?!何)[點個天年月號]?|请问|請問|[吗嗎呢吧]|(?<!目)的|(?<!于)是"
)
_KOREAN_WORD = re.compile(
    "(?:얼마나?|무엇|무슨|뭐|언제|어디|누구|어느|어떤|몇|왜|어떻게)"
    "(?:에|에서|을|를|이|가|입니까|인가요|이에요|예요|에요|야)?|있습니까|있나요|입니까|인가요|합니까|하나요|됩니까|되나요"
)
_KOREAN_END = re.compile("(?:입니까|습니까|인가요|이에요|예요|에서|까지|부터|으로|[은는이가을를의에로와과도])$")
_THAI_WORD = re.compile("เท่าไหร่|เท่าไร|อะไร|ที่ไหน|เมื่อไหร่|เมื่อไร|อย่างไร|ยังไง|ทำไม|ใคร|หรือไม่|หรือเปล่า|ไหม|กี่|ครับ|ค่ะ|คะ")
_COUNTS = frozenset("何几幾")
_LEAST_STEM = 2


def parts(unit: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stretches of a unit that say what it is about, and those that only ask or join."""
    told: list[str] = []
    fillers: list[str] = []
    at = 0
    for start, end in sorted(_fillers(unit)):
        told.append(unit[at:start])
        fillers.append(unit[start:end])
        at = end
    told.append(unit[at:])
    # The counter of "how many minutes" is no word of its own.
    about = [part for at, part in enumerate(told) if not (len(part) == 1 and at and fillers[at - 1] in _COUNTS)]
    about = [part for part in about if any(map(str.isalnum, part))]
    return tuple(about), tuple(fillers)


def _fillers(unit: str) -> Iterator[Span]:
    if unit.isascii():
        return
    if _KANA.search(unit):
        yield from (match.span() for match in _JAPANESE_HAN.finditer(unit))
        taken = {at for match in _JAPANESE_HAN.finditer(unit) for at in range(*match.span())}
        for run in _HIRAGANA.finditer(unit):
            if run.start() not in taken:
                yield from _in_hiragana(unit, run.start(), run.end())
    elif _HANGUL.fullmatch(unit):
        yield from _in_hangul(unit)
    elif _THAI.search(unit):
        yield from (match.span() for match in _THAI_WORD.finditer(unit))
    elif _HAN.search(unit):
        yield from (match.span() for match in _CHINESE.finditer(unit))


def _in_hiragana(unit: str, start: int, end: int) -> Iterator[Span]:
    """Yield the particle behind a word, and the particles and endings up to the end of the run."""
    behind_word = start > 0
    whole = (_BEHIND_A_WORD if behind_word else _JAPANESE).fullmatch(unit, start, end)
    if whole:
        yield start, end
        return
    for first in range(start + (1 if behind_word else _LEAST_STEM), end):
        if _BEHIND_A_WORD.fullmatch(unit, first, end):
            yield first, end
            break
    else:
        first = end
    if behind_word and first - start > _LEAST_STEM and re.match(_PARTICLES, unit[start]):
        yield start, start + 1


def _in_hangul(word: str) -> Iterator[Span]:
    if _KOREAN_WORD.fullmatch(word):
        yield 0, len(word)
    elif (end := _KOREAN_END.search(word)) and end.start() >= _LEAST_STEM:
        yield end.span()
