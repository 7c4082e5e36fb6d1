# What a matplotlib figure shows, as data. Loaded when the first figure is displayed.
import re

UNIT = re.compile(r"\s*\(([^()]*)\)\s*$")


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


def unit_of(label):
    found = UNIT.search(label or "")
    return found.group(1) if found else None


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
    if is_date_axis(axis):
        import matplotlib.dates
        try:
            return matplotlib.dates.num2date(value).isoformat()
        except Exception:
            return number(value)
    return number(value)


def ticks_of(axis, labels):
    return [to_user(axis, tick) for tick in axis.get_ticklocs()], [label.get_text() for label in labels]


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


def label_of(artist, index):
    label = artist.get_label()
    return label if label and not str(label).startswith("_") else f"Series {index}"


def line_chart(axes):
    chart = with_ticks(axes, "line")
    chart["elements"] = []
    for index, line in enumerate(axes.get_lines()):
        points = [[to_user(axes.xaxis, x) if not isinstance(x, str) else x, to_user(axes.yaxis, y)]
                  for x, y in zip(line.get_xdata(), line.get_ydata())]
        chart["elements"].append({"label": label_of(line, index), "points": points})
    return chart


def scatter_chart(axes, collections):
    chart = with_ticks(axes, "scatter")
    chart["elements"] = [
        {"label": label_of(collection, index),
         "points": [[to_user(axes.xaxis, x), to_user(axes.yaxis, y)] for x, y in collection.get_offsets()]}
        for index, collection in enumerate(collections)]
    return chart


def bar_chart(axes):
    from matplotlib.container import BarContainer
    chart = two_dimensional(axes, "bar")
    chart["elements"] = []
    for container in axes.containers:
        if not isinstance(container, BarContainer):
            continue
        group = container.get_label()
        group = group if group and not str(group).startswith("_") else ""
        upright = container.orientation != "horizontal"
        labels = [label.get_text() for label in (axes.get_xticklabels() if upright else axes.get_yticklabels())]
        centres = list(axes.get_xticks() if upright else axes.get_yticks())
        for bar in container:
            value = bar.get_height() if upright else bar.get_width()
            middle = bar.get_x() + bar.get_width() / 2 if upright else bar.get_y() + bar.get_height() / 2
            near = [label for centre, label in zip(centres, labels) if abs(centre - middle) < 0.5 and label]
            chart["elements"].append({"label": near[0] if near else str(number(middle)), "group": str(group),
                                      "value": number(value)})
    return chart


def pie_chart(axes, wedges):
    texts = [text.get_text() for text in axes.texts]
    labels = [text for text in texts if not text.endswith("%")] or texts
    return {"type": "pie", "title": axes.get_title() or None, "elements": [
        {"label": labels[index] if index < len(labels) else "", "angle": abs(wedge.theta2 - wedge.theta1),
         "radius": number(wedge.r)} for index, wedge in enumerate(wedges)]}


def box_chart(axes, boxes):
    """matplotlib draws each box as a path, then whiskers, caps, a median and outliers as lines, in that order."""
    import numpy
    chart = two_dimensional(axes, "box_and_whisker")
    labels = [label.get_text() for label in axes.get_xticklabels()]
    chart["elements"] = []
    for index, box in enumerate(boxes):
        ys = numpy.asarray(box["box"], dtype=float)
        chart["elements"].append({
            "label": labels[index] if index < len(labels) else str(index + 1),
            "min": number(min(box["whiskers"])), "first_quartile": number(ys.min()), "median": number(box["median"]),
            "third_quartile": number(ys.max()), "max": number(max(box["whiskers"])),
            "outliers": [number(y) for y in box["outliers"]]})
    return chart


def find_boxes(axes):
    """Boxes among the lines of a boxplot: a closed line of five points, two whiskers, two caps, a median."""
    lines = axes.get_lines()
    boxes = []
    index = 0
    while index + 5 < len(lines) + 1:
        group = lines[index:index + 7]
        sizes = [len(line.get_xdata()) for line in group]
        if len(group) >= 6 and sizes[0] == 5 and sizes[1:6] == [2, 2, 2, 2, 2]:
            outliers = list(group[6].get_ydata()) if len(group) == 7 and group[6].get_linestyle() == "None" else []
            ys = [y for line in group[1:3] for y in line.get_ydata()]
            boxes.append({"box": group[0].get_ydata(), "whiskers": ys, "median": group[5].get_ydata()[0],
                          "outliers": outliers})
            index += 7 if len(group) == 7 and group[6].get_linestyle() == "None" else 6
        else:
            return []
    return boxes


def axes_chart(axes):
    from matplotlib.collections import PathCollection
    from matplotlib.container import BarContainer
    from matplotlib.patches import Wedge
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
    if axes.get_lines():
        return line_chart(axes)
    return {"type": "unknown", "title": axes.get_title() or None, "elements": []}


def chart_of(figure):
    """One chart, several as a superchart, or None for an empty figure."""
    charts = [axes_chart(axes) for axes in figure.get_axes()]
    if not charts:
        return None
    if len(charts) == 1:
        return charts[0]
    title = figure._suptitle.get_text() if getattr(figure, "_suptitle", None) else None
    return {"type": "superchart", "title": title, "elements": charts}
