"""The same library from async code: several searches at once, an answer piece by piece."""

import asyncio
import tempfile
from pathlib import Path

from lilbee_core import AsyncLilbee

LIBRARY = Path(__file__).parent / "library"
QUESTIONS = ("how much honey for the winter?", "who caught the swarm?", "what does the scale weigh?")


async def main() -> None:
    with tempfile.TemporaryDirectory() as data:
        async with AsyncLilbee(LIBRARY, data_dir=data) as bee:
            await bee.sync()
            for result in await asyncio.gather(*(bee.search(question, top_k=1) for question in QUESTIONS)):
                print(result.query.text, "->", result[0].path, result[0].chunk.location)
            async for delta in bee.ask_stream("What went wrong with the two colonies that died?"):
                if delta.kind == "text":
                    print(delta.text, end="", flush=True)
            print()


if __name__ == "__main__":
    asyncio.run(main())
