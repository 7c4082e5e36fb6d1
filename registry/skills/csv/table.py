"""A small table: read, describe, filter, group, write."""
import csv
import io


def _value(text):
    stripped = text.strip()
    if stripped == "":
        return None
    for kind in (int, float):
        try:
            number = kind(stripped)
        except ValueError:
            continue
        return number if number == number else text
    return text


class Table:
    def __init__(self, columns, rows):
        self.columns, self.rows = list(columns), list(rows)

    @classmethod
    def parse(cls, text):
        """The first line names the columns. Raises ValueError if there is none, or if a row is longer than it."""
        sample = text[:65536]
        try:
            dialect = csv.Sniffer().sniff(sample, delimiters=",;\t|")
        except csv.Error:
            dialect = csv.excel
        lines = csv.reader(io.StringIO(text), dialect)
        columns = [name.strip() for name in next(lines, [])]
        if not columns:
            raise ValueError("the file has no header line")
        rows = []
        for number, line in enumerate(lines, 2):
            if not line:
                continue
            if len(line) > len(columns):
                raise ValueError(f"line {number} has {len(line)} fields, the header {len(columns)}")
            values = [_value(field) for field in line] + [None] * (len(columns) - len(line))
            rows.append(dict(zip(columns, values)))
        return cls(columns, rows)

    @classmethod
    def read(cls, path):
        with open(path, "rb") as file:
            data = file.read()
        try:
            return cls.parse(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            return cls.parse(data.decode("latin-1"))

    def values(self, column):
        if column not in self.columns:
            raise KeyError(f"no column {column!r}; there are {', '.join(self.columns)}")
        return [row[column] for row in self.rows if row[column] is not None]

    def describe(self):
        lines = [f"{len(self.rows)} rows, {len(self.columns)} columns"]
        for column in self.columns:
            values = self.values(column)
            missing = len(self.rows) - len(values)
            numbers = [value for value in values if isinstance(value, (int, float))]
            if values and len(numbers) == len(values):
                facts = f"number, {min(numbers)} to {max(numbers)}, sum {sum(numbers)}"
            else:
                facts = f"text, {len({str(value) for value in values})} different"
            lines.append(f"{column}: {facts}" + (f", {missing} missing" if missing else ""))
        return "\n".join(lines)

    def where(self, keep):
        return Table(self.columns, [row for row in self.rows if keep(row)])

    def group(self, column, total=None):
        groups = {}
        for row in self.rows:
            group = groups.setdefault(row[column], {column: row[column], "rows": 0})
            group["rows"] += 1
            if total is not None:
                group["total"] = group.get("total", 0) + (row[total] or 0)
        return sorted(groups.values(), key=lambda group: str(group[column]))

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, self.columns)
            writer.writeheader()
            writer.writerows(self.rows)
