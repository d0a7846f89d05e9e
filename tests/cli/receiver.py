"""A receiver of metrics on the loopback, which answers as a test says; and protobuf, as far as requests have it."""

import contextlib
import gzip
import http.server
import re
import socket
import struct
import threading


def fields(message):
    """The fields of a message: number -> list of values (int, or bytes)."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            value = varint()
        elif kind == 1:
            value = message[at:at + 8]
            at += 8
        elif kind == 2:
            length = varint()
            value = message[at:at + length]
            assert len(value) == length
            at += length
        else:
            raise AssertionError(f"wire type {kind}")
        found.setdefault(number, []).append(value)
    return found


def double(value):
    return struct.unpack("<d", value)[0]


class Receiver(http.server.ThreadingHTTPServer):
    """Keeps the requests that came. `answers` are tried in turn, the last one for all others: (status, fields, body), or a function of the
    handler."""

    daemon_threads = True

    def __init__(self, *answers, tls=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.scheme = "https" if tls else "http"
        if tls:  # an ssl.SSLContext
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.answers = list(answers) or [(200, {}, b"")]
        self.requests = []  # (path, fields, body)
        self.ended = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, path=""):
        return f"{self.scheme}://127.0.0.1:{self.server_port}{path}"

    def close(self):
        self.ended.set()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        server = self.server
        server.requests.append((self.path, self.headers, body))
        answer = server.answers.pop(0) if len(server.answers) > 1 else server.answers[0]
        if callable(answer):
            return answer(self)
        status, extra, content = answer
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(content))} | extra).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)


def hang(handler):
    handler.server.ended.wait()


def hang_up(handler):
    handler.close_connection = True


class RawReceiver:
    """Answers each connection with whatever bytes a test says: `answer(connection, ended)` is called when the request has come."""

    def __init__(self, answer, family=socket.AF_INET, address="127.0.0.1"):
        self.answer = answer
        self.requests = 0
        self.ended = threading.Event()
        self.socket = socket.create_server((address, 0), family=family)
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while not self.ended.is_set():
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.handle, args=(connection,), daemon=True).start()

    def handle(self, connection):
        with connection, contextlib.suppress(OSError):
            read_request(connection)
            self.requests += 1
            self.answer(connection, self.ended)

    def close(self):
        self.ended.set()
        self.socket.close()


def read_request(connection):
    request = b""
    while b"\r\n\r\n" not in request:
        request += connection.recv(65536)
    head, _, body = request.partition(b"\r\n\r\n")
    [length] = re.findall(rb"(?i)content-length: (\d+)", head)
    while len(body) < int(length):
        body += connection.recv(65536)
