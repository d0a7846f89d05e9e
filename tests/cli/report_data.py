"""Reads the data of an HTML report as docs/report-format.md describes it."""

import base64
import json
import os
import pathlib
import re
import struct
import unittest.mock
import zlib

DATA = re.compile(r'<script type="application/octet-stream" id="gput-data">([A-Za-z0-9+/=]*)</script>')
PAGE = '<!doctype html>\n<title><!--gput-title--></title>\n<body><!--gput-data--></body>\n'


def use_page(test):
    """Lets reports of a test in this process have an empty page, which Report reads."""
    (test.folder / "page.html").write_text(PAGE)
    patch = unittest.mock.patch.dict(os.environ, {"GPUT_REPORT_PAGE": str(test.folder / "page.html")})
    patch.start()
    test.addCleanup(patch.stop)


class Report:
    """`document` is the JSON; `column()` reads what it refers to. Missing is None."""

    def __init__(self, path):
        self._read(pathlib.Path(path).read_text())

    @classmethod
    def of(cls, html):
        """The same of the content of a file."""
        report = cls.__new__(cls)
        report._read(html)
        return report

    def _read(self, html):
        self.html = html
        (packed,) = DATA.findall(self.html)
        payload = zlib.decompress(base64.b64decode(packed, validate=True))
        (length,) = struct.unpack_from("<I", payload)
        assert (4 + length) % 8 == 0
        self.document = json.loads(payload[4 : 4 + length])
        self._bytes = payload[4 + length :]
        self.sessions = self.document["sessions"]

    def _part(self, place):
        return self._bytes[place["offset"] : place["offset"] + place["bytes"]]

    def _differences(self, column):
        number = shift = 0
        for byte in self._part(column):
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                yield number >> 1 ^ -(number & 1)
                number = shift = 0

    def column(self, column):
        count = column["count"]
        if column["encoding"] == "constant":
            return [column["value"]] * count
        assert column["offset"] % 8 == 0
        if column["encoding"] == "f64":
            return [None if value != value else value for value in struct.unpack(f"<{count}d", self._part(column))]
        every = column.get("every", 1)
        missing = self._part(column["missing"]) if "missing" in column else bytes((count * every + 7) // 8)
        values, total = [], 0
        for row, difference in enumerate(self._differences(column)):
            total += difference
            is_missing = missing[row // 8] >> row % 8 & 1
            values.append(None if is_missing else total * column.get("scale", 1))
        assert len(values) == count * every
        return values[column.get("at", 0)::every]

    def columns(self, table, *names):
        """Rows of some columns of a group of columns."""
        return list(zip(*(self.column(table[name]) for name in names)))

    def series(self, session=0):
        """Of each curve: its times and values."""
        found = {}
        for series in self.sessions[session].get("series", []):
            times = self.column(self.sessions[session]["times"][series.get("time", 0)])
            found[series["id"]] = (times, self.column(series["values"]))
        return found

    def cards(self, session=0):
        return {card["id"]: card for card in self.sessions[session].get("cards", [])}
