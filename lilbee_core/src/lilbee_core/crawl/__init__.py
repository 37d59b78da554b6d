"""Web pages: fetched with care for whom they belong to, kept as files with their address. Knows nothing of ingest."""

from lilbee_core.crawl._addresses import Guard
from lilbee_core.crawl._browser import BrowserRenderer, find_browser
from lilbee_core.crawl._crawler import Crawler, CrawlLimits
from lilbee_core.crawl._fetcher import USER_AGENT, WebFetcher, need_extra
from lilbee_core.crawl._keeping import Keeper
from lilbee_core.crawl._manifest import FOLDER, Kept, Manifest
from lilbee_core.crawl._pace import Manners, Pace
from lilbee_core.crawl._plan import CrawlPlan, plan_of
from lilbee_core.crawl._urls import normalized, page_key, shown
from lilbee_core.crawl._visit import Scripts, Visitor

__all__ = [
    "FOLDER", "USER_AGENT", "BrowserRenderer", "CrawlLimits", "CrawlPlan", "Crawler", "Guard", "Keeper", "Kept",
    "Manifest", "Manners", "Pace", "Scripts", "Visitor", "WebFetcher", "find_browser", "need_extra", "normalized",
    "page_key", "plan_of", "shown",
]  # fmt: skip
