"""What people type finds what they mean: the analyzer on both sides of an index (R167)."""

from __future__ import annotations

import pytest

from tests.core.analysis.tiny_index import TinyIndex

CODE = TinyIndex(
    {
        "ledger.py": "class LedgerFlusher:\n    retry_limit = 4\n    def flush_ledger_rows(self, rows):\n        pass",
        "tariff.ts": "export function parseTariffTable(raw) {}",
        "c.md": "The boot loader is plain C, moved last winter.",
        "cpp.md": "The mixer was moved to C++ last winter.",
        "csharp.md": "The kiosk client is written in C# on .NET and was started last winter.",
        "conf.md": "Set `ledger.sync.retry-limit` to 9 on slow lines.",
        "prose.md": "Please flush the sink. The ledger has many rows. A table of tariff groups hangs by the door.",
    },
    languages={"ledger.py": None, "tariff.ts": None},
)
IDS = TinyIndex(
    {
        "e4417": "Build error E4417: borrowed lamp outlives its socket.",
        "e4471": "Build error E4471: socket moved while lit.",
        "cve20": "Advisory CVE-2031-77120 affects the kiosk.",
        "cve21": "Advisory CVE-2031-77121 affects the turnstile.",
        "v1": "Release 7.10.4 fixed the siren.",
        "v2": "Release 7.1.04 broke the siren.",
        "v3": "Release 7.10.40 replaced the siren.",
        "hex": "Fault 0x8F00B2 means a wet sensor.",
        "dec": "DEC-0311 was accepted: one queue per pier.",
        "dec2": "DEC-0113 was rejected. The 0311 line is not used.",
        "money": "Rechnung 88-4/B über 1.250,50 EUR, Kabel 3.5 mm, gezahlt am 2026-03-14.",
        "money2": "Rechnung 88-5/B über 1.520,50 EUR, Kabel 5.3 mm, gezahlt am 2026-04-13.",
    }
)
TONGUES = TinyIndex(
    {
        "zh": "花园每周二和周五清晨灌溉，水泵由值班员打开。NAS备份在凌晨三点进行。",
        "ja": "自転車のブレーキは月に一度点検します。チェーンには専用の油を使います。",
        "ko": "자전거를 고치는 방법은 설명서에 있습니다.",
        "th": "ผึ้งกลับรังเมื่อฟ้ามืด",
        "ar": "يعود النَّحْلُ إلى الخليّة عندما يحل الظلام",
        "hi": "मधुमक्खियाँ छत्ते में लौट आती हैं",
        "de": "Die Straßenlaternen in der Müllergasse wurden erneuert. Ihre Größe ist bekannt. Die Bäume sind gesund.",
        "fr": "L'eau de la crème brûlée a été renversée par les élèves.",
        "ru": "Пчёлы возвращались в улей.",
        "el": "Οι μέλισσες γυρίζουν στην κυψέλη.",
        "vi": "Ong trở về tổ khi trời tối",
        "tr": "Arılar İstanbul'da kovana döner ve bal yapar.",
    },
    languages={"hi": "hi", "vi": "vi", "tr": "tr"},
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("flush_ledger_rows", "ledger.py"),
        ("LedgerFlusher.flush_ledger_rows", "ledger.py"),
        ("parseTariffTable", "tariff.ts"),
        ("parsetarifftable", "tariff.ts"),
        ("parse_tariff_table", "tariff.ts"),
        ("ledger.sync.retry-limit", "conf.md"),
        ("C++", "cpp.md"),
        ("c#", "csharp.md"),
        (".NET", "csharp.md"),
        ("C", "c.md"),
    ],
)
def test_a_name_from_code_finds_its_file_first(query: str, first: str) -> None:
    assert CODE.search(query)[0] == first


def test_parts_of_a_name_find_it_and_quotes_demand_it_whole() -> None:
    assert "ledger.py" in CODE.search("flush ledger rows")
    assert "tariff.ts" in CODE.search("tariff table")
    assert "ledger.py" in CODE.search("retry-limit")
    assert CODE.search('"flush_ledger_rows"') == ["ledger.py"]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("E4417", "e4417"),
        ("what does E4471 mean?", "e4471"),
        ("CVE-2031-77120", "cve20"),
        ('"CVE-2031-77121"', "cve21"),
        ("7.10.4", "v1"),
        ('"7.10.40"', "v3"),
        ("v7.1.04", "v2"),
        ("0x8f00b2", "hex"),
        ("DEC-0311", "dec"),
        ('"DEC-0311"', "dec"),
        ("88-4/B", "money"),
        ("1.250,50", "money"),
        ("1250.50", "money"),
        ("3,5 mm", "money"),
        ("2026-03-14", "money"),
    ],
)
def test_a_number_or_id_is_not_taken_for_its_neighbor(query: str, first: str) -> None:
    assert IDS.search(query)[0] == first


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("灌溉", "zh"),
        ("水泵", "zh"),
        ("备份", "zh"),
        ("NAS备份", "zh"),
        ("花园什么时候灌溉？", "zh"),
        ("ブレーキ", "ja"),
        ("ﾌﾞﾚｰｷ", "ja"),
        ("自転車 油", "ja"),
        ("자전거", "ko"),
        ("รัง", "th"),
        ("النحل", "ar"),
        ("خلية", "ar"),
        ("मधुमक्खियां", "hi"),
        ("Müllergasse", "de"),
        ("Muellergasse", "de"),
        ("mullergasse", "de"),
        ("MÜLLERGASSE", "de"),
        ("strassenlaterne", "de"),
        ("Laterne", "de"),
        ("Groesse", "de"),
        ("Baum", "de"),
        ("creme brulee", "fr"),
        ("eau", "fr"),
        ("élève", "fr"),
        ("пчелы", "ru"),
        ("пчела", "ru"),
        ("μελισσα", "el"),
        ("tro ve to", "vi"),
        ("istanbul", "tr"),
        ("kovan", "tr"),
    ],
)
def test_words_of_any_language_are_found_as_people_type_them(query: str, first: str) -> None:
    assert TONGUES.search(query)[0] == first


def test_other_languages_are_not_found_along() -> None:
    assert TONGUES.search("ブレーキ") == ["ja"]
    assert TONGUES.search("灌溉") == ["zh"]


def test_the_spelling_as_typed_comes_first() -> None:
    index = TinyIndex({"a": "Die Grosse ist da", "b": "Die Größe ist da"}, languages={"a": "de", "b": "de"})
    assert index.search("Größe") == ["b", "a"]
    inflected = TinyIndex({"a": "houses of wax", "b": "house of wax"}, languages={"a": "en", "b": "en"})
    assert inflected.search("house") == ["b", "a"]
    assert inflected.search("houses") == ["a", "b"]


def test_hyphens_come_and_go() -> None:
    index = TinyIndex({"one": "they cooperate", "two": "they co-operate", "three": "they co operate"})
    for query in ("cooperate", "co-operate", "co-operated"):
        assert {"one", "two"} <= set(index.search(query))
    assert {"two", "three"} <= set(index.search("co operate"))


def test_a_phrase_wants_its_words_in_order() -> None:
    index = TinyIndex(
        {
            "lamp": "When the pump is dry the amber lamp\nflashes twice. Use the read-only v2.3 driver.",
            "words": "Amber glass. Lamp oil. It flashes. Twice a day. Only read the v2.4 driver note.",
        }
    )
    assert index.search('"amber lamp flashes twice"') == ["lamp"]
    assert index.search('"read-only v2.3 driver"') == ["lamp"]
    assert index.search('"twice flashes lamp amber"') == []
    assert index.search("twice flashes lamp amber")[0] in ("lamp", "words")


@pytest.mark.parametrize(
    "query",
    [
        "what's the budget, roughly?", "budget AND", "(budget", "budget*", "budget~2", "title:budget", "[budget]",
        "C:\\budget\\*", "budget {0}, trace: {1}", "budget' OR '1'='1", "budget 🪵", "$budget", "%budget%", "<budget>",
    ],
)  # fmt: skip
def test_no_sign_keeps_a_word_from_being_found(query: str) -> None:
    index = TinyIndex({"plan": "The budget for the plan.", "other": "Swans nest by the weir."})
    assert index.search(query)[0] == "plan"
