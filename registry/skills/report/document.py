"""A report that is written twice: as Markdown for machines, as one HTML file for people."""
import html
import os


def _cell(value):
    return f"{value:g}" if isinstance(value, float) else str(value)


class Report:
    def __init__(self, title):
        self.title, self._blocks, self._sources = title, [], []

    def heading(self, text):
        self._blocks.append(("heading", text))

    def text(self, text):
        self._blocks.append(("text", text))

    def table(self, columns, rows):
        rows = [list(row) for row in rows]
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(f"a row has {len(row)} cells, the table {len(columns)} columns: {row!r}")
        self._blocks.append(("table", (list(columns), rows)))

    def source(self, text):
        self._sources.append(text)

    def markdown(self):
        lines = [f"# {self.title}", ""]
        for kind, value in self._blocks:
            if kind == "heading":
                lines += [f"## {value}", ""]
            elif kind == "text":
                lines += [value, ""]
            else:
                columns, rows = value
                for row in [columns, ["---"] * len(columns), *rows]:
                    lines.append("| " + " | ".join(_cell(cell).replace("|", "\\|") for cell in row) + " |")
                lines.append("")
        if self._sources:
            lines += ["## Sources", "", *[f"{number}. {text}" for number, text in enumerate(self._sources, 1)], ""]
        return "\n".join(lines)

    def html(self):
        escape = html.escape
        parts = [f"<h1>{escape(self.title)}</h1>"]
        for kind, value in self._blocks:
            if kind == "heading":
                parts.append(f"<h2>{escape(value)}</h2>")
            elif kind == "text":
                parts.append(f"<p>{escape(value)}</p>")
            else:
                columns, rows = value
                head = "".join(f"<th>{escape(_cell(cell))}</th>" for cell in columns)
                body = "".join("<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) + "</tr>"
                               for row in rows)
                parts.append(f"<table><tr>{head}</tr>{body}</table>")
        if self._sources:
            items = "".join(f"<li>{escape(text)}</li>" for text in self._sources)
            parts.append(f"<h2>Sources</h2><ol>{items}</ol>")
        return ("<!doctype html><meta charset=utf-8><title>" + escape(self.title) + "</title>"
                "<style>body{font:16px sans-serif;max-width:46em;margin:2em auto}"
                "td,th{border:1px solid #ccc;padding:.3em .6em}table{border-collapse:collapse}</style>"
                + "\n".join(parts) + "\n")

    def save(self, path):
        """Writes path.md and path.html and gives both names."""
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        for ending, text in ((".md", self.markdown()), (".html", self.html())):
            with open(path + ending, "w", encoding="utf-8") as file:
                file.write(text)
        return [path + ".md", path + ".html"]
