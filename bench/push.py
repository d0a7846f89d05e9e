"""What sending metrics costs the tracker: CPU time a tick at 10 Hz with one sample a second to a receiver on the loopback, against none.

    bench/push.py BUILD [ROUNDS]
"""

import http.server
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading

SECONDS = 8


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()


def microseconds_a_tick(command, *options):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([command, "run", "-q", "--st", "0.1", "-o", report, *options, "--", "sleep", str(SECONDS)], check=True)
        tracker = json.loads(report.read_text())["tracker"]
    return tracker["cpu_seconds"] / tracker["ticks"] * 1e6


def main():
    command = pathlib.Path(sys.argv[1]).absolute() / "gpu-tracker"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    ways = {"none": [], "otlp": [f"--otlp={url}", "--push-interval", "1"], "remote write": ["--remote-write", url, "--push-interval", "1"]}
    found = {name: [] for name in ways}
    for _ in range(rounds):
        for name, options in ways.items():
            found[name].append(microseconds_a_tick(command, *options))
    floor = statistics.median(found["none"])
    print("what\tus CPU a tick\tratio")
    for name, values in found.items():
        print(f"{name}\t{statistics.median(values):.0f}\t{statistics.median(values) / floor:.2f}")
    server.shutdown()


if __name__ == "__main__":
    main()
