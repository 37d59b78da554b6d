"""Make the binary files of examples/library: `python -m tests.tools.make_library`.

Their texts stand in tests/tools/library. The files are the same bytes each time and are committed; the text files of
the sample library are written by hand and not touched.
"""

from __future__ import annotations

import sys
from decimal import Decimal
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from tests.tools._blocks import read_parts, read_table, read_text
from tests.tools._docx import make_docx
from tests.tools._epub import make_epub
from tests.tools._pdf import make_pdf
from tests.tools._pptx import make_pptx
from tests.tools._xlsx import make_xlsx

LIBRARY = Path(__file__).resolve().parents[2] / "examples" / "library"


def handbook() -> bytes:
    return make_pdf(
        read_parts("handbook.md"), title="The Brickyard Handbook", author="Tom Ashdown", created="20210301120000Z"
    )


def minutes() -> bytes:
    (blocks,) = read_parts("minutes.md")
    return make_docx(
        blocks, title="Minutes of the autumn meeting", author="Priya Raman", created="2025-10-15T18:20:00Z"
    )


def talk() -> bytes:
    return make_pptx(
        read_parts("slides.md"), title="Why two colonies died", author="Oskar Weil", created="2025-11-11T16:05:00Z"
    )


def book() -> bytes:
    return make_epub(
        read_parts("tin_roof.md"),
        title="The Tin Roof, and Other Stories of the Bee House",
        author="Tom Ashdown",
        created="2016-12-01T00:00:00Z",
    )


def accounts() -> bytes:
    """Return the workbook of the accounts, a sum below each of the two columns of money, and the balance."""
    rows = read_table("accounts.csv")
    last = len(rows)
    came, went = (sum(Decimal(row[column] or 0) for row in rows[1:]) for column in (2, 3))
    rows.append(["", "Together", f"=SUM(C2:C{last}) is {came}", f"=SUM(D2:D{last}) is {went}"])
    rows.append(["", "In the bank on 30 September 2025", f"=C{last + 1}-D{last + 1} is {came - went}", ""])
    sheets = {"Accounts 2025": rows, "Lent and borrowed": read_table("lent.csv")}
    return make_xlsx(sheets, title="Accounts 2025", author="Priya Raman", created="2025-09-30T19:00:00Z")


def letter() -> bytes:
    """Return the letter about the swarm, with the checklist attached."""
    message = EmailMessage(policy=SMTP)
    message["From"] = "Ines Okafor <ines@brickyard-bees.example>"
    message["To"] = "All members <members@brickyard-bees.example>"
    message["Subject"] = "The swarm in the pear tree"
    message["Date"] = "Sun, 25 May 2025 09:12:00 +0100"
    message["Message-ID"] = "<20250525081200.7@brickyard-bees.example>"
    message.set_content(read_text("letter.txt"), cte="quoted-printable")
    message.add_attachment(read_text("checklist.txt"), filename="swarm-checklist.txt", cte="7bit")
    message.set_boundary("=_pear_tree")
    return message.as_bytes()


FILES = {
    "handbook.pdf": handbook,
    "minutes/2025-10-14-autumn-meeting.docx": minutes,
    "talks/why-two-colonies-died.pptx": talk,
    "books/the-tin-roof.epub": book,
    "records/accounts-2025.xlsx": accounts,
    "mail/2025-05-25-swarm-in-the-pear-tree.eml": letter,
}


def main(folder: Path) -> None:
    for name, make in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make())
        print(f"{path.stat().st_size:>8}  {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else LIBRARY)
