"""The built-in model: right vectors, the same whatever happens around a text, and a quiet neighbor."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lilbee_core.embed import MiniLM
from lilbee_core.embed._tokens import WordPieces, load_tokenizer
from lilbee_core.embed._weights import tokenizer_file

TEXTS = [
    "How do bees find their way home?",
    "",
    "a",
    "Pollen is protein. " * 200,
    "SELECT count(*) FROM hives WHERE queen IS NULL;",
    "蜜蜂怎么找到回家的路",
    "The hive is quiet at night, and the foragers rest on the comb until the sun warms the entrance.",
] * 3


def python(code: str, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process at home in `home`, where nothing says that this is a test or a build server."""
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments],
        env={**kept, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_vectors_are_those_of_the_float32_model(minilm: MiniLM, float32_vectors: dict[str, list[float]]) -> None:
    texts = list(float32_vectors)
    cosines = (minilm.embed(texts) * np.array(list(float32_vectors.values()))).sum(1)
    for text, cosine in zip(texts, cosines, strict=True):
        assert cosine > (0.99 if text else 0.97)


def test_shape_type_and_length(minilm: MiniLM) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), minilm.dimension) == (21, 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert minilm.embed([]).shape == (0, 384)


def test_meaning_is_close(minilm: MiniLM) -> None:
    question, right, wrong = minilm.embed(
        ["How do bees find their way home?", "Foragers return to the hive by the sun.", "Interest rates rose in March."]
    )
    assert question @ right > question @ wrong + 0.2


def test_a_vector_depends_on_its_text_alone(minilm: MiniLM, model_cache: Path) -> None:
    alone = np.concatenate([minilm.embed([text]) for text in TEXTS])
    assert (minilm.embed(TEXTS) == alone).all()
    assert (minilm.embed(TEXTS[::-1])[::-1] == alone).all()
    for threads in (1, 3, 8):
        with MiniLM.load(cache_dir=model_cache, threads=threads) as other:
            assert (other.embed(TEXTS) == alone).all()


def test_threads_may_share_it(minilm: MiniLM) -> None:
    expected = minilm.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(minilm.embed, [TEXTS] * 8):
            assert (found == expected).all()


def test_an_empty_text_has_a_vector_of_its_own(minilm: MiniLM) -> None:
    empty, blank, word = minilm.embed(["", " \n\t", "bee"])
    assert np.isclose(np.linalg.norm(empty), 1, atol=1e-5)
    assert (empty == blank).all()
    assert empty @ word < 0.9


def test_only_the_first_256_tokens_are_read(minilm: MiniLM) -> None:
    text = " ".join(f"cell {number}" for number in range(1000))
    starts = minilm.token_starts(text)
    cut = text[: starts[254]]
    assert minilm.count_tokens(cut) == minilm.max_tokens - 2 == 254
    assert (minilm.embed([text]) == minilm.embed([cut])).all()
    assert not (minilm.embed([text]) == minilm.embed([text[: starts[253]]])).all()


def test_token_vectors_belong_to_token_starts(minilm: MiniLM) -> None:
    text = "Unbelievable waggle dances"
    vectors = minilm.token_vectors(text)
    assert vectors.shape == (len(minilm.token_starts(text)), 384)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    dances = minilm.token_vectors("They dance")[-1]
    assert (vectors @ dances).argmax() == len(vectors) - 1
    assert minilm.token_vectors("").shape == (0, 384)
    assert minilm.token_vectors("bee " * 1000).shape == (254, 384)


def test_what_it_says_about_itself(minilm: MiniLM) -> None:
    assert minilm.max_tokens == 256
    assert minilm.languages == ("en",)
    assert len(minilm.fingerprint) == 64
    assert (
        minilm.fingerprint == "8f53ea72b0bd63400f41e427655af480704c45db712f67c9df234b49a63dc805"
    )  # it is stored in every index: never change it


def test_this_machine_computes_int8_rightly(minilm: MiniLM) -> None:
    assert 0.99 < minilm.agreement() < 1


def test_a_machine_that_does_not_is_found_out() -> None:
    class Saturated:
        def run(self, output_names: Sequence[str], inputs: dict[str, Any]) -> list[Any]:
            return [np.full((1, 384), 384**-0.5, np.float32)]

    model = MiniLM(Saturated(), WordPieces(load_tokenizer(tokenizer_file())), threads=1)
    assert model.agreement() < 0.98


def test_the_users_cache_folder_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    MiniLM.load().close()
    assert (tmp_path / "cache" / "minilm-fc9e2858.onnx").is_file()


def test_closed_is_closed(model_cache: Path) -> None:
    model = MiniLM.load(cache_dir=model_cache)
    model.close()
    model.close()
    with pytest.raises(ValueError, match="closed"):
        model.embed(["bee"])
    with pytest.raises(ValueError, match="closed"):
        model.token_vectors("bee")


def test_threads_must_be_positive(model_cache: Path) -> None:
    with pytest.raises(ValueError, match="threads must be positive, got 0"):
        MiniLM.load(cache_dir=model_cache, threads=0)


class BrokenSession:
    """Fails at the third run."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, output_names: Sequence[str], inputs: dict[str, Any]) -> list[Any]:
        self.runs += 1
        if self.runs == 3:
            raise MemoryError("third run")
        return [np.zeros((1, 384), np.float32)]


@pytest.mark.parametrize("threads", [1, 4])
def test_a_failure_ends_the_whole_batch(threads: int) -> None:
    session = BrokenSession()
    model = MiniLM(session, WordPieces(load_tokenizer(tokenizer_file())), threads=threads)
    with pytest.raises(MemoryError, match="third run"):
        model.embed([f"text {number}" for number in range(2000)])
    assert session.runs <= 3 + threads


def test_importing_it_loads_nothing_heavy(tmp_path: Path) -> None:
    done = python(
        """
        import sys
        import lilbee_core.embed
        print(sorted({"numpy", "onnxruntime", "tokenizers", "pydantic", "sqlite3"} & set(sys.modules)))
        """,
        tmp_path,
    )
    assert done.stdout == "[]\n", done.stderr


def test_it_prints_nothing_and_writes_only_its_file(tmp_path: Path) -> None:
    done = python(
        """
        import sys
        from pathlib import Path
        from lilbee_core.embed import MiniLM
        MiniLM.load(cache_dir=Path(sys.argv[1])).embed(["bee", "hive"])
        """,
        tmp_path,
        str(tmp_path / "cache"),
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.name for path in written] == ["minilm-fc9e2858.onnx"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_it_works_after_a_fork(tmp_path: Path, minilm: MiniLM, model_cache: Path) -> None:
    done = python(
        """
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking at all
        from pathlib import Path
        from lilbee_core.embed import MiniLM
        model = MiniLM.load(cache_dir=Path(sys.argv[1]), threads=2)
        texts = ["bee", "hive", "comb", "queen"]
        before = model.embed(texts)
        model.count_tokens("bee " * 100)
        child = os.fork()
        if child == 0:
            os._exit(0 if (model.embed(texts) == before).all() else 3)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        tmp_path,
        str(model_cache),
    )
    assert (done.stdout, done.stderr) == ("0\n", "")
