"""Rows of a data frame as documents, and hits as a data frame."""

import tempfile

import pandas as pd

from lilbee_core import Document, Lilbee, Metadata


def main() -> None:
    reviews = pd.DataFrame(
        {
            "product": ["smoker", "gloves", "feeder"],
            "stars": [5, 2, 4],
            "review": [
                "Stays lit for an hour and the smoke is cool.",
                "The leather split at the thumb in the second week.",
                "Holds two liters; no bee has drowned in it so far.",
            ],
        }
    )
    documents = (
        Document(
            path=f"reviews/{number}",
            collection="shop",
            title=row["product"],
            text=row["review"],
            metadata=Metadata(stars=int(row["stars"])),
        )
        for number, row in reviews.iterrows()
    )
    with tempfile.TemporaryDirectory() as data, Lilbee(data_dir=data) as bee:
        bee.add_documents(documents)
        hits = bee.search("which one broke?", top_k=2).to_pandas()
        print(hits[["rank", "score", "path", "title", "text"]].to_string(index=False))


if __name__ == "__main__":
    main()
