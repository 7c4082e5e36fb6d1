"""HTML to text that a person, or a model, can read."""
from html.parser import HTMLParser

_SKIPPED = {"script", "style", "noscript", "template", "svg"}
_BLOCKS = {"p", "div", "section", "article", "li", "ul", "ol", "table", "tr", "br", "h1", "h2", "h3", "h4", "h5", "h6",
           "header", "footer", "nav", "main", "pre", "blockquote"}


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.skipping, self.link = [], 0, None

    def handle_starttag(self, tag, attrs):
        if tag in _SKIPPED:
            self.skipping += 1
        elif tag in _BLOCKS:
            self.parts.append("\n" + ("#" * int(tag[1]) + " " if len(tag) == 2 and tag[1].isdigit() else ""))
            if tag == "li":
                self.parts.append("- ")
        elif tag == "a":
            self.link = dict(attrs).get("href")

    def handle_endtag(self, tag):
        if tag in _SKIPPED:
            self.skipping = max(0, self.skipping - 1)
        elif tag in _BLOCKS:
            self.parts.append("\n")
        elif tag == "a" and self.link:
            if self.link.startswith("http"):
                self.parts.append(f" <{self.link}>")
            self.link = None

    def handle_data(self, data):
        if not self.skipping:
            self.parts.append(" ".join(data.split()) + (" " if data[-1:].isspace() else ""))


def readable(html):
    """The text of a page: headings, lists and links kept, scripts and styles left out."""
    reader = _Reader()
    reader.feed(html)
    lines, blank = [], True
    for line in (line.strip() for line in "".join(reader.parts).split("\n")):
        if line or not blank:
            lines.append(line)
        blank = not line
    return "\n".join(lines).strip()
