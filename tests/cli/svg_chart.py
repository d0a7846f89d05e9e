"""Reads a picture that `gpu-tracker plot` drew: figures are taken from its axes, as a reader's eye does."""

import re
import xml.etree.ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "m": 1e-3, "µ": 1e-6, "Mi": 2**20}
SECONDS = {"s": 1, "ms": 1e-3, "µs": 1e-6, "min": 60, "h": 3600, "d": 86400}
TICK = re.compile(r"-?[0-9.]+$")


def unit_of(heading):
    """What a label of the axis is worth: 1e9 for "RAM (GB)"."""
    found = re.search(r"\((.*?)\)", heading)
    unit = found[1] if found else ""
    if unit[-1:] in ("B", "W", "J"):
        return PREFIXES[unit[:-1]]
    scale = re.match(r"1e(-?[0-9]+)", unit)
    return float(scale[0]) if scale else 1


def points_of(path):
    """[[(x, y), …], …]: a list for each part of the line."""
    parts = []
    for part in path.split("M")[1:]:
        numbers = [float(number) for number in re.findall(r"-?[0-9.]+", part.replace("h0", ""))]
        parts.append(list(zip(numbers[::2], numbers[1::2])))
    return parts


class Axis:
    """A scale through two of the ticks."""

    def __init__(self, ticks, unit):
        (place, value), (last_place, last_value) = ticks[0], ticks[-1]
        self.step = (last_value - value) / (last_place - place) * unit
        self.begin = value * unit - place * self.step
        self.resolution = abs(self.step) * 0.011  # places of points, and of the ticks by which they are read, have two decimals

    def value(self, place):
        return self.begin + place * self.step


class Line:
    def __init__(self, name, parts, times, values, style):
        self.name, self.style = name, style
        self.resolution = values.resolution, times.resolution
        self.parts = [[(times.value(x), values.value(y)) for x, y in part] for part in parts]
        self.points = [point for part in self.parts for point in part]

    def values(self):
        return [value for _, value in self.points]


class Chart:
    """headings, texts, lines (by panel), rows: {label: [(start, stop), …]}, bands: of the first panel."""

    def __init__(self, text):
        self.root = xml.etree.ElementTree.fromstring(text)
        assert self.root.tag == SVG + "svg", self.root.tag
        self.size = tuple(float(number) for number in self.root.get("viewBox").split()[2:])
        self.texts = [node.text or "" for node in self.root.iter(SVG + "text")]
        self.times = self.read_times()
        self.headings, self.panels, self.rows, self.limits = [], [], {}, []
        self.read()

    def read_times(self):
        ticks = [(float(node.get("x")), float(node.text)) for node in self.root.iter(SVG + "text")
                 if node.get("text-anchor") == "middle" and TICK.match(node.text)]
        name = next(text for text in self.texts if text.startswith("Time ("))
        if len(ticks) < 2:  # a single moment, or one tick
            return Axis([(0, 0), (1, 0)], 1)
        return Axis(ticks, SECONDS[name[6:-1]])

    def read(self):
        ticks, above, row, heading, boxes = [], None, None, "", []
        for node in self.root:
            name = node.find(SVG + "title")
            if node.tag == SVG + "text":
                text, anchor = node.text or "", node.get("text-anchor")
                if text.startswith("limit "):
                    self.limits.append(text[6:])
                elif anchor == "end" and above is not None and TICK.match(text):
                    ticks = ticks if row == "ticks" else []
                    ticks.append((above, float(text)))
                    row = "ticks"
                elif anchor == "end":
                    row = self.rows.setdefault(text, [])
                elif anchor is None and node.get("font-size") == "8":  # a larger one is the title
                    heading = text if not self.headings or row is not None else heading
                    if heading is text:
                        self.headings.append(text)
                        self.panels.append([])
                        row = None
                above = None
            elif node.tag == SVG + "path" and name is not None:
                axis = Axis(ticks, unit_of(self.headings[-1]))
                style = node.get("stroke"), node.get("stroke-dasharray")
                self.panels[-1].append(Line(name.text, points_of(node.get("d")), self.times, axis, style))
                row = "line"
            elif node.tag == SVG + "path":
                (points,) = points_of(node.get("d"))
                above = points[0][1] if points[0][1] == points[-1][1] else None
            elif node.tag == SVG + "rect" and node.get("x"):
                x, width = float(node.get("x")), float(node.get("width"))
                span = self.times.value(x), self.times.value(x + width)
                if isinstance(row, list):
                    row.append(span)
                else:
                    boxes.append(span)
        self.bands = boxes

    def line(self, panel=0, name=None):
        (found,) = [line for line in self.panels[panel] if name in (None, line.name)]
        return found
