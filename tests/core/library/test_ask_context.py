"""What an answer is made from, over the façade (R184, R189)."""

from __future__ import annotations

from lilbee_core.testing import ScriptedChat, open_test_library

FILES = {f"bees-{at}.md": f"Bees bees build combs with wax, note {at} about bees.\n" for at in range(8)}
FILES["wasps.md"] = "The nest of paper was built by wasps, as most of their nests are in summer and autumn.\n"
LONG = "\n\n".join(f"Part {at}. The mill stands by the river. " + "Water turns the wheel. " * 40 for at in range(6))


def test_a_model_reads_passages_about_both_things_that_are_compared():
    chat = ScriptedChat("Bees build with wax [1].")
    with open_test_library(files=FILES, chat=chat) as bee:
        found = bee.search("bees and wasps", profile="full")
        answer = bee.ask("bees and wasps")

    assert answer.trace is not None
    assert len(answer.trace) == 5
    assert "wasps.md" in {hit.path for hit in answer.trace}
    assert "nest of paper" in chat.requests[-1].messages[-1].content
    assert len(found) == 9, "the search shows all of them"
    assert [one.name for one in answer.trace.reports][-3:] == ["cover", "limit", "neighbors"]


def test_neighbors_are_read_as_one_and_cited_as_they_are():
    with open_test_library(files={"mill.md": LONG}) as bee:
        answer = bee.ask("Where does the mill stand, and what turns the wheel?")
        hits = {hit.chunk_id: hit for hit in bee.search("mill river wheel water", top_k=20)}

        assert any(hit.parts for hit in answer.trace)
        for hit in answer.trace:
            assert hit.text == hit.chunk.span.cut(LONG + "\n") or hit.text in LONG
        for cited in answer.citations:
            assert cited.quote_span.cut(hits[cited.chunk_id].text) == cited.quote
            assert cited.quote in bee.get_text("mill.md", f"{cited.line_start}-{cited.line_end}").text


def test_the_number_of_passages_is_a_setting():
    chat = ScriptedChat("Bees build with wax [1].")
    with open_test_library(files=FILES, chat=chat) as bee:
        bee.config.set("max_context_sources", 2)
        assert len(bee.ask("bees and wasps").trace) == 2


def test_an_answer_tells_how_long_it_took_the_search_included():
    with open_test_library(files={"bees.md": "Bees build combs with wax."}) as bee:
        answer = bee.ask("What do bees build with wax?")
        streamed = [delta.answer for delta in bee.ask_stream("What do bees build with wax?") if delta.answer]

        assert answer.seconds >= answer.trace.seconds > 0
        assert [one.seconds > 0 for one in streamed] == [True]
