"""The least that a cold hybrid search takes: libraries, model, one word query, one flat query, ten rows."""

from __future__ import annotations

import sys
from collections.abc import Sequence

COLUMNS = ["id", "path", "text", "line_start", "line_end"]


def main(arguments: Sequence[str]) -> int:
    index, model, tokenizer, query = arguments
    import lancedb
    import numpy as np
    import onnxruntime
    from lancedb.query import MatchQuery
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_file(tokenizer)
    pieces.no_padding()
    pieces.enable_truncation(256)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    ids = np.array([pieces.encode(query).ids], np.int64)
    vector = session.run(["embedding"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
    table = lancedb.connect(index).open_table("chunks")
    words = table.search(MatchQuery(query, "words"), query_type="fts").select(["_rowid", "_score"]).limit(30).to_arrow()
    near = table.search(vector).distance_type("cosine").select(["_rowid", "_distance"]).limit(30).to_arrow()
    best = [*words["_rowid"].to_pylist()[:5], *near["_rowid"].to_pylist()[:5]]
    rows = table.take_row_ids(list(dict.fromkeys(best))).select(COLUMNS).to_arrow()
    print(rows.num_rows)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
