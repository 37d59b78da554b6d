from __future__ import annotations

import pytest

from lilbee_core.analysis import detect_language

SENTENCES = {
    "en": "The bees come back to the hive when it gets dark, and nobody knows how they find it.",
    "de": "Die Bienen kehren zurück, wenn es dunkel wird, und niemand weiß, wie sie den Stock finden.",
    "fr": "Les abeilles reviennent à la ruche quand il fait nuit, et personne ne sait comment elles la trouvent.",
    "es": "Las abejas vuelven a la colmena cuando oscurece, y nadie sabe cómo la encuentran.",
    "it": "Le api tornano all'alveare quando si fa buio e nessuno sa come lo trovano.",
    "pt": "As abelhas voltam à colmeia quando escurece, e ninguém sabe como a encontram.",
    "ca": "Les abelles tornen al rusc quan es fa fosc, i ningú no sap com el troben amb aquesta llum.",
    "ro": "Albinele se întorc la stup când se întunecă și nimeni nu știe cum îl găsesc.",
    "nl": "De bijen keren terug naar de kast wanneer het donker wordt, en niemand weet hoe ze die vinden.",
    "sv": "Bina kommer tillbaka till kupan när det blir mörkt, och ingen vet hur de hittar den.",
    "da": "Bierne vender tilbage til stadet, når det bliver mørkt, og ingen af os ved, hvad de gør.",
    "no": "Biene kommer tilbake til kuben når det blir mørkt, og ingen av oss vet hva de gjør etter det.",
    "fi": "Mehiläiset palaavat pesään, kun tulee pimeä, eikä kukaan tiedä, miten ne sen löytävät.",
    "pl": "Pszczoły wracają do ula, gdy się ściemnia, i nikt nie wie, jak go znajdują.",
    "cs": "Včely se vracejí do úlu, když se stmívá, a nikdo neví, jak ho najdou.",
    "hu": "A méhek visszatérnek a kaptárba, amikor besötétedik, és senki sem tudja, hogyan találják meg.",
    "tr": "Arılar hava kararınca kovana geri döner ve onu nasıl buldukları için kimse bir şey bilmez.",
    "id": "Lebah kembali ke sarang ketika hari sudah gelap, dan tidak ada yang tahu bagaimana mereka menemukannya.",
    "vi": "Ong trở về tổ khi trời tối và không ai biết chúng tìm tổ như thế nào.",
    "ru": "Пчёлы возвращаются в улей, когда темнеет, и никто не знает, как они его находят.",
    "uk": "Бджоли повертаються до вулика, коли темніє, і ніхто не знає, як вони його знаходять.",
    "bg": "Пчелите се връщат в кошера, когато се стъмни, и никой не знае как го намират.",
    "el": "Οι μέλισσες γυρίζουν στην κυψέλη όταν νυχτώνει και κανείς δεν ξέρει πώς τη βρίσκουν.",
    "ar": "يعود النحل إلى الخلية عندما يحل الظلام ولا أحد يعرف كيف يجدها.",
    "fa": "زنبورها وقتی هوا تاریک می‌شود به کندو برمی‌گردند و هیچ کس نمی‌داند چگونه آن را پیدا می‌کنند.",
    "he": "הדבורים חוזרות לכוורת כשמחשיך ואיש אינו יודע איך הן מוצאות אותה.",
    "hi": "अंधेरा होने पर मधुमक्खियाँ छत्ते में लौट आती हैं और कोई नहीं जानता कि वे उसे कैसे ढूँढती हैं।",
    "th": "ผึ้งกลับรังเมื่อฟ้ามืด และไม่มีใครรู้ว่ามันหารังเจอได้อย่างไร",
    "zh": "天黑时蜜蜂回到蜂巢，没有人知道它们是怎么找到的。",
    "ja": "暗くなるとミツバチは巣に戻るが、どうやって見つけるのかは誰も知らない。",
    "ko": "어두워지면 벌들은 벌집으로 돌아오지만 어떻게 찾는지는 아무도 모른다.",
    "ka": "ფუტკრები სკაში ბრუნდებიან, როცა ბნელდება.",
    "ta": "இருட்டும்போது தேனீக்கள் கூட்டுக்குத் திரும்புகின்றன.",
}


@pytest.mark.parametrize(("language", "text"), SENTENCES.items())
def test_a_sentence_tells_its_language(language: str, text: str) -> None:
    assert detect_language(text) == language


@pytest.mark.parametrize(
    "text",
    ["", "   ", "12345 67.89", "?!…", "Zorbleat", "x = y + z", "def end(self): return end", "sub sub sub", "a a a a a"],
)
def test_where_nothing_tells_it_is_unknown(text: str) -> None:
    assert detect_language(text) is None


def test_a_script_alone_tells_where_words_do_not() -> None:
    assert detect_language("Пчеловодство") == "ru"
    assert detect_language("मधुमक्खी") == "hi"
    assert detect_language("דבורה") == "he"


def test_what_most_of_a_text_is_in_decides() -> None:
    assert detect_language(SENTENCES["de"] + " The word is: hive.") == "de"
    assert detect_language("日本語の文書です。NAS backup の設定。" * 3) == "ja"
    assert detect_language(SENTENCES["en"] + " 蜂巢") == "en"


def test_a_long_text_is_judged_by_beginning_middle_and_end() -> None:
    filler = "0123456789 " * 5000
    assert detect_language(filler + SENTENCES["fr"]) == "fr"
    assert detect_language(SENTENCES["fr"] + filler) == "fr"


def test_the_answer_does_not_depend_on_order_of_calls() -> None:
    first = {language: detect_language(text) for language, text in SENTENCES.items()}
    assert first == {language: detect_language(text) for language, text in reversed(SENTENCES.items())}
