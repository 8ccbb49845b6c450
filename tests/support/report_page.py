"""A report's page as a reader's parser sees it, and what must hold of every one."""

from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Page(HTMLParser):
    """Checks that every element is closed in order, and keeps attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.pieces: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open, f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data):
        if "style" not in self.open:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def assert_self_contained(page: Page) -> None:
    assert "script" not in page.tags
    assert not {"link", "img", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    for name, value in page.attributes:
        assert not name.startswith("on"), name
        if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
            assert value.startswith("#"), (name, value)
        if name == "style":
            assert "url(" not in value.replace("url(#", "")
    policy = [
        value for name, value in page.attributes if name == "content" and "default-src" in value
    ]
    assert policy and "default-src 'none'" in policy[0]
