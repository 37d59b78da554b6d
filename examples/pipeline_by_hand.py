"""The parts without the façade: a store, an embedder, a chunker and a list of search stages."""

import tempfile

from lilbee_core.analysis import Analyzer, detect_language
from lilbee_core.chunking import TokenChunker, embedding_input
from lilbee_core.embed import Embedder, MiniLM
from lilbee_core.protocols import IndexedDocument
from lilbee_core.search import Dense, Fetch, Fuse, Lexical, Limit, Parallel, Parse, Searcher
from lilbee_core.store import Store
from lilbee_core.types import Document, DocumentRow, DocumentState, Query, StoredText, document_id

TEXTS = {
    "bees.md": "Bees find home by the sun, by landmarks and by the smell of the hive.",
    "boats.md": "Boats find the harbor by its lights and by the buoys in the channel.",
}


def indexed(document: Document, embedder: Embedder, chunker: TokenChunker, analyzer: Analyzer) -> IndexedDocument:
    """Cut a document, analyze its words, embed its chunks."""
    identity = document_id(document.collection, document.path, document.text)
    chunks = chunker.split(document, identity)
    return IndexedDocument(
        row=DocumentRow(
            id=identity,
            collection=document.collection,
            path=document.path,
            state=DocumentState.INDEXED,
            chunks=len(chunks),
            embedded=len(chunks),
        ),
        text=StoredText(document_id=identity, text=document.text),
        chunks=chunks,
        words=tuple(analyzer.index_text(chunk.text, language="en") for chunk in chunks),
        vectors=embedder.embed_batch([embedding_input(chunk, embedder) for chunk in chunks]),
    )


def main() -> None:
    analyzer, embedder = Analyzer(), Embedder(MiniLM.load(), model="builtin/all-MiniLM-L6-v2")
    chunker = TokenChunker(embedder, max_tokens=embedder.max_tokens)
    with tempfile.TemporaryDirectory() as folder, Store.open(folder) as store:
        with store.writing():
            documents = [Document(path=path, text=text) for path, text in TEXTS.items()]
            store.put([indexed(document, embedder, chunker, analyzer) for document in documents])
        retrieve = Parallel(Dense(store, embedder), Lexical(store, analyzer))
        searcher = Searcher(stages=[Parse(analyzer, store, detect_language), retrieve, Fuse(), Fetch(store), Limit()])
        result = searcher.search(Query(text="how do bees find home?", top_k=2))
        print(result.explain())
    embedder.close()


if __name__ == "__main__":
    main()
