"""Three lines to a result: index a folder where it is, search it, ask it."""

import sys
import tempfile
from pathlib import Path

from lilbee_core import Lilbee

LIBRARY = Path(__file__).parent / "library"


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else LIBRARY
    # Without data_dir the index lies in FOLDER/.lilbee; here it goes away with the example.
    with tempfile.TemporaryDirectory() as data, Lilbee(folder, data_dir=data) as bee:
        report = bee.sync()
        print(f"{report.added} documents, {report.chunks} chunks")

        for hit in bee.search("when did hive seven swarm?", top_k=3):
            print(f"{hit.score:.2f} {hit.path} ({hit.chunk.location})")

        answer = bee.ask("When did hive seven swarm, and who caught it?")
        print(answer.text)
        for citation in answer.citations:
            print(f"  [{citation.marker}] {citation.path} {citation.location}: {citation.quote!r}")


if __name__ == "__main__":
    main()
