"""How values show themselves: as lines of plain text, and as HTML in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.display._lines import joined, one_line, several_lines
from lilbee_core.lazy import lazy_names

if TYPE_CHECKING:
    from lilbee_core.display._html import Bundle as Bundle
    from lilbee_core.display._html import bundle as bundle
    from lilbee_core.display._html import table_html as table_html
    from lilbee_core.display._html import text_html as text_html

__all__ = ["Bundle", "bundle", "joined", "one_line", "several_lines", "table_html", "text_html"]

if not TYPE_CHECKING:  # or type checkers would take any name for one of ours
    # The entities of HTML take a while to import, and most programs show none.
    __getattr__ = lazy_names(__name__, {"_html": ("Bundle", "bundle", "table_html", "text_html")})
