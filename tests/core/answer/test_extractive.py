"""Answers of quoted sentences, each cited where it stands (R193)."""

from dataclasses import replace

import pytest

from lilbee_core.analysis import Analyzer
from lilbee_core.answer import NOT_FOUND, ExtractiveAnswerer
from lilbee_core.answer._sentences import sentences_of
from lilbee_core.protocols import ANALYZED
from lilbee_core.testing import HashEmbedder, a_hit
from lilbee_core.types import Hit, Location, Query, SearchResult

TEXT = """# Hives

Bees find home by the sun. They dance to tell others.

- A colony has 40,000 workers in June.
- The queen lives four years.
"""


def result(*hits: Hit, found: bool = True, warnings: tuple[str, ...] = ()) -> SearchResult:
    return SearchResult(query=Query(text="q"), hits=hits, found=found, warnings=warnings)


def hive(text: str = TEXT, **more: object) -> Hit:
    lines = Location(line_start=10, line_end=10 + text.rstrip("\n").count("\n"))
    return a_hit(text, **{"location": lines, **more})


def answerer(**more: object) -> ExtractiveAnswerer:
    return ExtractiveAnswerer(Analyzer(), **more)


def test_the_best_sentence_is_quoted_with_its_own_lines():
    answer = answerer().answer("How old does the queen get?", result(hive()))

    assert answer.text.startswith("The queen lives four years. [1]")
    cited = answer.citations[0]
    assert cited.quote == "The queen lives four years."
    assert (cited.line_start, cited.line_end) == (15, 15)
    assert cited.quote_span.cut(TEXT) == cited.quote
    assert cited.answer_span.cut(answer.text) == cited.quote
    assert answer.found
    assert answer.model is None
    assert "No chat model" in answer.warnings[0]


def test_a_sentence_over_two_lines_keeps_both():
    text = "one\n\nThe queen\nlives four years.\n\nlast"
    cited = answerer().answer("queen years", result(hive(text))).citations[0]

    assert (cited.line_start, cited.line_end) == (12, 13)
    assert cited.quote == "The queen\nlives four years."


def test_a_second_sentence_is_told_only_if_it_adds_something():
    one = answerer().answer("queen at home", result(hive("The queen is at home. The queen sings all day long.")))
    two = answerer().answer("queen home sun roof", result(hive("The queen is at home. The sun is on the roof.")))

    assert len(one.citations) == 1
    assert len(answerer().answer("queen", result(hive("The queen lives. The queen sings."))).citations) == 2
    assert [cited.marker for cited in two.citations] == [1, 2]
    assert "[2]" in two.text


def test_an_answer_is_at_most_three_sentences_and_400_characters():
    text = " ".join(f"Word{n} of the {'long ' * 30}tale number{n}." for n in range(9))
    answer = answerer().answer(" ".join(f"word{n} number{n}" for n in range(9)), result(hive(text)))

    assert len(answer.citations) <= 3
    assert sum(len(cited.quote) for cited in answer.citations) <= 400


def test_a_text_without_stops_is_cut_between_words():
    text = "queen " + "filler " * 300
    cited = answerer().answer("queen", result(hive(text))).citations[0]

    assert cited.quote.startswith("queen filler")
    assert len(cited.quote) <= 400
    assert not cited.quote.endswith("fill")


def test_brackets_of_a_document_are_no_marks():
    answer = answerer().answer("queen", result(hive("The queen [7] lives four years.")))

    assert "[7]" not in answer.text
    assert answer.citations[0].quote == "The queen [7] lives four years."


def test_pictures_and_links_of_a_document_do_not_load():
    text = "The queen lives ![x](http://203.0.113.9/leak) four years, see [the plan](http://203.0.113.9/)."
    answer = answerer().answer("queen", result(hive(text)))

    assert answer.text == "The queen lives four years, see the plan. [1]"
    assert answer.citations[0].quote == text


def test_a_text_of_nothing_but_pictures_answers_nothing():
    answer = answerer().answer("queen", result(hive("![the queen of the hive](http://203.0.113.9/queen.png)")))

    assert not answer.found


def test_meaning_counts_where_there_is_an_embedder():
    text = "The sun is warm today for us. Drones drones drones live short."
    embedder = HashEmbedder()
    answer = answerer(embedder=embedder).answer("drones drones", result(hive(text)))

    assert answer.text.startswith("Drones")
    assert embedder.queries == ["drones drones"]


def test_an_embedder_that_is_down_leaves_the_words():
    embedder = HashEmbedder()
    embedder.fail()
    answer = answerer(embedder=embedder).answer("queen", result(hive()))

    assert answer.text.startswith("The queen")


@pytest.mark.parametrize("found", [result(hive(), found=False), result(found=True)])
def test_not_found_is_said_and_cites_nothing(found):
    answer = answerer().answer("Who won on Mars?", found)

    assert answer.text.startswith(NOT_FOUND)
    assert answer.citations == ()
    assert not answer.found


def test_the_nearest_places_are_named():
    answer = answerer().answer("Who won?", result(hive(), found=False))

    assert "bees.txt (lines 10-15)" in answer.text


def test_headings_are_no_answers():
    answer = answerer().answer("hives", result(hive("# All about hives\n\nNothing of note here, really.")))

    assert "All about" not in answer.text


def test_streaming_tells_the_same():
    whole = answerer().answer("queen sun", result(hive("The queen [1] is in. The sun [2] is out.")))
    deltas = list(answerer().stream("queen sun", result(hive("The queen [1] is in. The sun [2] is out."))))

    assert "".join(delta.text for delta in deltas if delta.kind == "text") == whole.text
    assert tuple(delta.citation for delta in deltas if delta.kind == "citation") == whole.citations
    assert deltas[-1].answer == whole


def test_warnings_of_the_search_reach_the_answer():
    answer = answerer().answer("queen", result(hive(), warnings=("Searched by words alone",)))

    assert "Searched by words alone" in answer.warnings


def test_a_heading_that_nothing_marks_is_no_sentence() -> None:
    text = "3. Winter stores\nMore colonies die of hunger than of cold.\n\nWinter stores\n\nThe winter ends."
    hit = a_hit(text, headings=("Winter stores",))
    pieces = [one.text for one in sentences_of(hit, order=0, max_chars=400)]
    assert pieces == ["More colonies die of hunger than of cold.", "The winter ends."]


@pytest.mark.parametrize("lead", ["// ", "//\n// ", "/** ", "/* ", "-- ", "<!-- ", "- ", "12. "])
def test_marks_of_comments_and_lists_are_not_quoted(lead: str) -> None:
    cited = answerer().answer("queen years", result(hive(f"one();\n\n{lead}The queen lives four years."))).citations[0]

    assert cited.quote == "The queen lives four years."


def test_words_are_read_in_the_languages_of_the_search():
    text = "Der Hund bellt laut am Tor. Eine Katze ruht auf dem Dach."
    asked = "Wo ruhen Katzen?"
    words = Analyzer().query(asked, languages=("de",))
    found = replace(result(hive(text, language="de")), private=((ANALYZED.name, words),))

    assert answerer().answer(asked, found).text.startswith("Eine Katze")


UMBRELLA = "The turquoise umbrella was left in the tram."
TRAINS = "Night trains to Vienna leave at ten."
FERRY = "The ferry leaves at noon."


def test_a_word_in_common_is_no_subject_in_common():
    hits = (hive(UMBRELLA, score=0.9), hive(TRAINS, score=0.3), hive(FERRY, score=0.2))

    assert answerer().answer("Where did we leave the turquoise umbrella?", result(*hits)).text == f"{UMBRELLA} [1]"


@pytest.mark.parametrize("question", ["Compare night trains and ferries", "Which is later, a night train or a ferry?"])
def test_of_a_question_about_several_things_each_is_told_of(question):
    hits = (hive(TRAINS, score=0.9), hive(UMBRELLA, score=0.5), hive(FERRY, score=0.3))
    answer = answerer().answer(question, result(*hits))

    assert answer.text == f"{TRAINS} [1] {FERRY} [2]"


MAIL = """Subject: the fence
From: Anna Berg <anna@example.org>
To: Tom Lind <tom@example.org>
Date: Mon, 3 Jun 2024 10:00:00 +0000

Hi Tom,

I painted the fence on Saturday with two coats of green.

Regards,
Anna Berg
"""


@pytest.mark.parametrize("question", ["Did Anna Berg paint the fence?", "Tom and the fence", "Anna Berg"])
def test_what_stands_around_a_mail_is_no_evidence(question):
    answer = answerer().answer(question, result(hive(MAIL)))

    assert [cited.quote for cited in answer.citations] == ["I painted the fence on Saturday with two coats of green."]


@pytest.mark.parametrize(
    "closing",
    [
        "Best regards\nAnna",
        "Mit freundlichen Grüßen\nAnna Berg",
        "Thanks, Anna Berg",
        "-- \nAnna Berg\nFence Ltd",
        "Saludos,\nAnna",
    ],
)
def test_closings_are_no_evidence(closing):
    answer = answerer().answer("Anna Berg fence", result(hive(f"The fence is green.\n\n{closing}")))

    assert [cited.quote for cited in answer.citations] == ["The fence is green."]


@pytest.mark.parametrize(
    "said",
    [
        "Thanks to Anna the fence is green.",
        "Best wishes for the fence came from Anna.",
        "To: the fence belongs a gate.",
    ],
)
def test_what_only_begins_like_a_closing_or_a_header_is_evidence(said):
    answer = answerer().answer("fence", result(hive(f"{said}\n\nThe gate is red.")))

    assert answer.citations[0].quote == said


def test_a_mail_of_nothing_but_its_frame_is_still_quoted():
    answer = answerer().answer("Anna Berg", result(hive("Regards,\nAnna Berg")))

    assert [cited.quote for cited in answer.citations] == ["Regards,\nAnna Berg"]


@pytest.mark.parametrize("lead", ["Whose swarm it is. ", "Who owns a swarm:\n\n"])
def test_what_leads_in_an_answer_is_none(lead):
    told = "A swarm belongs to the keeper who follows it."
    answer = answerer().answer("Whose swarm is it?", result(hive(f"{lead}{told}")))

    assert answer.text == f"{told} [1]"


def test_a_line_like_a_heading_adds_nothing():
    text = "The swarm of the keeper\n\nThe swarm belongs to the keeper who follows it."
    answer = answerer(embedder=HashEmbedder()).answer("Who is the keeper that follows the swarm?", result(hive(text)))

    assert answer.text == "The swarm belongs to the keeper who follows it. [1]"


class AllAlike(HashEmbedder):
    """Finds everything near everything, as a model does with texts on one subject."""

    def embed_query(self, text):
        return super().embed_query("same")

    def embed_batch(self, texts):
        return super().embed_batch(["same"] * len(texts))


@pytest.mark.parametrize(
    "told", ["The tomatoes need two litres of water a day.", "They need two litres of water a day."]
)
@pytest.mark.parametrize("embedder", [None, AllAlike()])
def test_a_further_sentence_tells_more_of_what_is_asked_than_its_subject(told, embedder):
    text = f"I planted the tomatoes on 12 May 2024 behind the shed. {told} The fence is green."
    answer = answerer(embedder=embedder).answer("How much water do the tomatoes need?", result(hive(text)))

    assert answer.text == f"{told} [1]"


JAPANESE = "京都の金閣寺は入場料が五百円です。大阪から京都までは新幹線で十五分かかります。秋は紅葉がとても美しいです。"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("京都まで何分かかりますか", "大阪から京都までは新幹線で十五分かかります。"),
        ("金閣寺の入場料はいくらですか", "京都の金閣寺は入場料が五百円です。"),
        ("紅葉は美しいですか", "秋は紅葉がとても美しいです。"),
    ],
)
@pytest.mark.parametrize("embedder", [None, AllAlike(languages=("en",))])
def test_one_of_several_sentences_without_blanks_is_chosen(question, told, embedder):
    answer = answerer(embedder=embedder).answer(question, result(hive(JAPANESE)))

    assert answer.text == f"{told} [1]"
