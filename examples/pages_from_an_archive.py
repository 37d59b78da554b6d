"""A plugin with a fetcher: pages of the web come from an archive of saved answers instead of the network."""

import tempfile
from collections.abc import Mapping

from lilbee_core import Lilbee
from lilbee_core.errors import CrawlError
from lilbee_core.plugins import FetcherSpec, Options, PluginSpec, hookimpl
from lilbee_core.protocols import Fetched

ARCHIVE = {
    "https://apiary.example/": "<h1>Apiary</h1><p>Our hives.</p><a href='/seven'>Hive seven</a>",
    "https://apiary.example/seven": "<title>Hive seven</title><p>Hive seven swarmed on the second of May.</p>",
}


class ArchiveFetcher:
    """Answers from the archive. A fetcher is shared by threads."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._answers = answers

    def fetch(self, url: str, *, timeout_s: float) -> Fetched:
        page = self._answers.get(url)
        if page is None:
            raise CrawlError(f"{url} is not in the archive")
        return Fetched(url=url, status=200, media_type="text/html", body=page.encode(), headers={})


class ArchivePlugin:
    """What pluggy sees: who we are, and what we offer."""

    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="archive", version="1.0.0", summary="Pages from an archive")

    @hookimpl
    def lilbee_fetchers(self) -> list[FetcherSpec]:
        return [FetcherSpec(name="archive-fetcher", build=self.build)]

    def build(self, options: Options) -> ArchiveFetcher:
        return ArchiveFetcher(ARCHIVE)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Lilbee(folder, plugins=[ArchivePlugin()]) as bee:
        report = bee.web.crawl("https://apiary.example/")
        print(f"{report.pages} pages")
        for hit in bee.search("when did hive seven swarm?", top_k=1):
            print(hit.url, hit.text.strip())


if __name__ == "__main__":
    main()
