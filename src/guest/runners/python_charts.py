# What a matplotlib figure shows, as pictures and as data. Loaded when the first figure is displayed.
import re
import sys

UNIT = re.compile(r"\s\((.*?)\)|\[(.*?)\]")
POINTS_MAX = 50000  # of a figure with more there is a bitmap only: what has a word for each point is slow and huge


def number(value):
    """A value of an axis as JSON can say it."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "item"):
        try:
            value = value.item()
        except Exception:
            return str(value)
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value if isinstance(value, (int, float, str, bool)) or value is None else str(value)


def rounded(value):
    """Without what binary fractions left: 324 and not 323.9999914. As many digits as E2B's charts have."""
    import decimal
    value = decimal.Decimal(str(float(value)))
    return float(decimal.Context(prec=max(1, 8 - value.adjusted())).plus(value)) if value.is_finite() else None


def unit_of(label):
    found = UNIT.search(label or "")
    return (found.group(1) or found.group(2)) if found else None


def is_date_axis(axis):
    import matplotlib.dates
    return isinstance(axis.get_converter() if hasattr(axis, "get_converter") else axis.converter,
                      (matplotlib.dates.DateConverter, matplotlib.dates.ConciseDateConverter,
                       matplotlib.dates._SwitchableDateConverter))


def is_category_axis(axis):
    import matplotlib.category
    converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
    return isinstance(converter, matplotlib.category.StrCategoryConverter)


def scale_of(axis):
    if is_date_axis(axis):
        return "datetime"
    if is_category_axis(axis):
        return "categorical"
    return axis.get_scale()


def to_user(axis, value):
    if is_category_axis(axis):
        return {place: name for name, place in axis.units._mapping.items()}.get(value, number(value))
    if is_date_axis(axis):
        import matplotlib.dates
        try:
            return matplotlib.dates.num2date(value).isoformat()
        except Exception:
            return number(value)
    return number(value)


def ticks_of(axis, labels):
    say = number if is_category_axis(axis) else lambda tick: to_user(axis, tick)
    return [say(tick) for tick in axis.get_ticklocs()], [label.get_text() for label in labels]


def two_dimensional(axes, kind):
    x_label, y_label = axes.get_xlabel() or None, axes.get_ylabel() or None
    return {"type": kind, "title": axes.get_title() or None, "x_label": x_label, "y_label": y_label,
            "x_unit": unit_of(x_label), "y_unit": unit_of(y_label)}


def with_ticks(axes, kind):
    chart = two_dimensional(axes, kind)
    chart["x_ticks"], chart["x_tick_labels"] = ticks_of(axes.xaxis, axes.get_xticklabels())
    chart["y_ticks"], chart["y_tick_labels"] = ticks_of(axes.yaxis, axes.get_yticklabels())
    chart["x_scale"], chart["y_scale"] = scale_of(axes.xaxis), scale_of(axes.yaxis)
    return chart


def label_of(artist, kind, index):
    """What the user called it, else its number among what was drawn."""
    label = str(artist.get_label() or "")
    if label and not label.startswith("_"):
        return label
    digits = label.lstrip("_abcdefghijklmnopqrstuvwxyz")
    return f"{kind} {digits if digits.isdecimal() else index}"


def is_rule(line):
    """Whether it only leads across, as axhline() does."""
    x, y = line.get_xdata(), line.get_ydata()
    return len(x) == 2 and len(y) == 2 and bool(x[0] == x[1] or y[0] == y[1])


def line_chart(axes):
    chart = with_ticks(axes, "line")
    chart["elements"] = []
    for index, line in enumerate(axes.get_lines()):
        if is_rule(line):
            continue
        points = [[to_user(axes.xaxis, x) if not isinstance(x, str) else x, to_user(axes.yaxis, y)]
                  for x, y in zip(line.get_xdata(), line.get_ydata())]
        chart["elements"].append({"label": label_of(line, "Line", index), "points": points})
    return chart


def scatter_chart(axes, collections):
    chart = with_ticks(axes, "scatter")
    chart["elements"] = [
        {"label": label_of(collection, "Series", index),
         "points": [[to_user(axes.xaxis, x), to_user(axes.yaxis, y)] for x, y in collection.get_offsets()]}
        for index, collection in enumerate(collections)]
    return chart


def has_names(axis):
    """Whether its ticks were given words, rather than showing where they are."""
    from matplotlib.ticker import FixedFormatter, FuncFormatter
    return is_category_axis(axis) or isinstance(axis.get_major_formatter(), (FixedFormatter, FuncFormatter))


def name_at(axis, place):
    """The word of the nearest tick if ticks have words, else the place."""
    if has_names(axis):
        ticks = [(abs(tick - place), label.get_text()) for tick, label in zip(axis.get_ticklocs(), axis.get_ticklabels())]
        near = min((tick for tick in ticks if tick[1]), default=(1, ""))
        if near[0] < 0.5:
            return near[1]
    place = to_user(axis, place)
    return f"{place:.12g}" if isinstance(place, float) else str(place)


def turned(chart, is_lying):
    """The labels of one that lies as if it stood: the names first, then the values."""
    if is_lying:
        for word in ("label", "unit"):
            chart[f"x_{word}"], chart[f"y_{word}"] = chart[f"y_{word}"], chart[f"x_{word}"]
    return chart


def bar_chart(axes):
    from matplotlib.container import BarContainer
    chart = two_dimensional(axes, "bar")
    chart["elements"] = []
    bars = [container for container in axes.containers if isinstance(container, BarContainer)]
    for index, container in enumerate(bars):
        group = label_of(container, "Group", index)
        upright = container.orientation != "horizontal"
        axis = axes.xaxis if upright else axes.yaxis
        for bar in container:
            value = bar.get_height() if upright else bar.get_width()
            middle = bar.get_x() + bar.get_width() / 2 if upright else bar.get_y() + bar.get_height() / 2
            chart["elements"].append({"label": name_at(axis, middle), "group": group, "value": number(value)})
    return turned(chart, any(container.orientation == "horizontal" for container in bars))


def pie_chart(axes, wedges):
    texts = [text.get_text() for text in axes.texts]
    if len(texts) == 2 * len(wedges):
        texts = texts[::2]  # what autopct wrote stands between the labels
    return {"type": "pie", "title": axes.get_title() or None, "elements": [
        {"label": texts[index] if index < len(texts) else "", "angle": abs(rounded(float(wedge.theta2) - float(wedge.theta1))),
         "radius": number(wedge.r)} for index, wedge in enumerate(wedges)]}


def box_chart(axes, boxes):
    import numpy
    chart = two_dimensional(axes, "box_and_whisker")
    chart["elements"] = []
    for box in boxes:
        element = {
            "label": name_at(axes.xaxis if box["upright"] else axes.yaxis, numpy.mean(box["place"])),
            "min": rounded(min(box["whiskers"])), "first_quartile": rounded(min(box["quartiles"])),
            "median": rounded(box["median"]), "third_quartile": rounded(max(box["quartiles"])),
            "max": rounded(max(box["whiskers"])), "outliers": [rounded(value) for value in box["outliers"]]}
        if element not in chart["elements"]:  # drawn again in colour, say
            chart["elements"].append(element)
    return turned(chart, not all(box["upright"] for box in boxes))


def find_boxes(axes):
    """Those of a boxplot. matplotlib draws each as a closed line or a filled path, then two whiskers, two caps (if wanted),
    a median, a mean (if wanted) and outliers (if wanted) as lines, in that order; whiskers lead away from the box."""
    from matplotlib.patches import PathPatch
    lines, outlines = [], []
    for line in axes.get_lines():
        size = len(line.get_xdata())
        is_outline = size in (5, 11) and line.get_xdata()[0] == line.get_xdata()[-1] and line.get_linestyle() != "None"
        (outlines if is_outline else lines).append(line)
    outlines = [(line.get_xdata(), line.get_ydata()) for line in outlines]
    filled = [patch.get_path().vertices for patch in axes.patches if type(patch) is PathPatch]
    outlines += [(path[:, 0], path[:, 1]) for path in filled if len(path) in (5, 6, 11, 12)]
    if not outlines or len(lines) % len(outlines):
        return []
    each = len(lines) // len(outlines)
    found = [box_of(outline, lines[index * each:(index + 1) * each]) for index, outline in enumerate(outlines)]
    return found if all(found) else []


def box_of(outline, lines):
    loose = [line for line in lines if line.get_linestyle() == "None"]
    lines = [line for line in lines if line.get_linestyle() != "None"]
    if len(lines) < 3 or any(len(line.get_xdata()) != 2 for line in lines):
        return None
    median = lines[4] if len(lines) >= 5 else lines[2]
    upright = median.get_ydata()[0] == median.get_ydata()[1]
    values = (lambda line: list(line.get_ydata())) if upright else (lambda line: list(line.get_xdata()))
    place, box = outline if upright else outline[::-1]
    across = 2 if len(box) < 11 else 5  # the outline begins at one quartile; notches lead beyond both
    return {"upright": upright, "place": place[:2], "quartiles": (box[0], box[across]), "median": values(median)[0],
            "whiskers": values(lines[0]) + values(lines[1]), "outliers": values(loose[-1]) if loose else []}


def axes_chart(axes):
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer
    from matplotlib.patches import Wedge
    if hasattr(axes, "get_zlim"):
        return {"type": "unknown", "title": axes.get_title() or None, "elements": []}  # its points are projections
    wedges = [patch for patch in axes.patches if isinstance(patch, Wedge)]
    if wedges:
        return pie_chart(axes, wedges)
    if any(isinstance(container, BarContainer) for container in axes.containers):
        return bar_chart(axes)
    boxes = find_boxes(axes)
    if boxes:
        return box_chart(axes, boxes)
    points = [item for item in axes.collections if isinstance(item, PathCollection)]
    if points:
        return scatter_chart(axes, points)
    if axes.get_lines() or not axes.has_data():
        return line_chart(axes)
    return {"type": "unknown", "title": axes.get_title() or None, "elements": []}


def is_begun(axes):
    """Whether anything was drawn, or an axis was told what it shows."""
    return axes.has_data() or any(axis.have_units() for axis in (axes.xaxis, axes.yaxis))


def chart_of(figure):
    """One chart, several as a superchart, or None for an empty figure."""
    charts = [axes_chart(axes) for axes in figure.get_axes() if axes.get_label() != "<colorbar>" and is_begun(axes)]
    if not charts:
        return None
    if len(charts) == 1:
        return charts[0]
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else None
    return {"type": "superchart", "title": title, "elements": charts}


def points_of(figure):
    """How much a drawing of it would have to say."""
    count = 0
    for axes in figure.get_axes():
        count += sum(len(line.get_xdata()) for line in axes.get_lines()) + len(axes.patches)
        for collection in axes.collections:
            shape = getattr(collection, "get_array", lambda: None)()
            count += max(len(collection.get_offsets()), len(collection.get_paths()) if shape is None else shape.size)
    return count


def figure_bundle(figure):
    """Its picture as a bitmap and as a drawing, and its data."""
    import io
    import json
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", bbox_inches="tight")
    data = {"image/png": buffer.getvalue()}
    is_small = True
    try:
        is_small = points_of(figure) <= POINTS_MAX
        if is_small:
            drawing = io.StringIO()
            figure.savefig(drawing, format="svg", bbox_inches="tight")
            data["image/svg+xml"] = drawing.getvalue()
    except Exception:
        pass  # a figure that only a bitmap can show
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(figure)  # shown now, not again at the end of the cell
    try:
        chart = chart_of(figure) if is_small else None
        if chart is not None:
            data["e2b/chart"] = json.dumps(chart)
    except Exception:
        pass
    return data
