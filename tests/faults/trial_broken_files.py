"""Small files of every format, cut after each byte, or with one bit flipped: read as far as they say, or refused with a message."""

import os

from faults import Rerun, main, problem_of, run, trial
from formats import FORMATS
from marking import Marker

# In large, all truncations.
SMALL, TRUNCATIONS, FLIPS = 15, 1_000_000, 4000


def break_file(rounds, row, broken_at):
    """Reads the file with what `broken_at` makes of it at each of the numbers that `rounds` spreads over its bytes."""
    name, file, make, command = row
    folder = rounds.fresh()
    make(folder)
    path = folder / file
    whole = path.read_bytes()
    reader = Rerun(rounds, *command, folder=folder)
    done = reader.run()
    if done.returncode != 0:
        raise AssertionError(f"{name}: {done.stderr}")
    rounds.note = f"{len(whole):,} bytes"
    with open(path, "r+b", buffering=0) as opened:
        for number in broken_at(rounds, opened, whole):
            done = reader.run()
            problem = problem_of(done)
            if done.returncode > 0 and not problem and len(done.stderr.splitlines()) > 3:
                problem = f"refused with {len(done.stderr.splitlines())} lines"
            rounds.count_round(problem, f"at {number}")
    reader.close()


def truncations(rounds, opened, whole):
    there = len(whole)
    for size in rounds.spread(len(whole)):
        opened.truncate(size)
        if size > there:
            opened.seek(there)
            opened.write(whole[there:size])
        there = size
        yield size


def flips(rounds, opened, whole):
    for bit in rounds.spread(8 * len(whole)):
        at = bit // 8
        for byte in whole[at] ^ 1 << bit % 8, whole[at]:
            opened.seek(at)
            opened.write(bytes([byte]))
            if byte != whole[at]:
                yield f"bit {bit}"


for format_row in FORMATS:

    @trial("truncation", format_row[0], SMALL, TRUNCATIONS, patience=10)
    def truncated(rounds, row=format_row):
        break_file(rounds, row, truncations)

    @trial("bit flip", format_row[0], SMALL, FLIPS)
    def flipped(rounds, row=format_row):
        break_file(rounds, row, flips)


@trial("truncation", "marks, by another program while they are written", 8, 400)
def truncated_while_written(rounds):
    for number in rounds:
        folder = rounds.fresh()
        name = ("m.csv", "m.sqlite", "m.sqlite-wal", "m.gputblocks")[number % 4]
        marked = folder / name.removesuffix("-wal")
        marker = Marker(rounds, marked)
        marker.mark(rounds.random.randrange(1, 900))
        size = (folder / name).stat().st_size
        length = rounds.random.choice([0, rounds.random.randrange(size), size // 8192 * 4096])
        is_busy = number // 4 % 2

        def cut():
            while is_busy and name == "m.csv" and (folder / name).stat().st_size == size:
                pass
            os.truncate(folder / name, length)

        if not is_busy:
            cut()
        marker.mark(5000, cut if is_busy else lambda: None)
        _, problem = marker.end()
        done = run("sub-track", "combine", "--mix", "--stf", "all.csv", "-p", marked, folder=folder)
        rows = (folder / "all.csv").read_text().splitlines() if done.returncode == 0 else []
        calls = sum(",1," in row and "lost calls" not in row for row in rows)
        says = any(words in done.stderr for words in ("at least", "truncated", "Unreadable parts were skipped", "cannot be read")) or (done.returncode > 0 and marked.suffix == ".sqlite")
        problem = problem or problem_of(done) or ("" if calls == marker.asked or says else f"{calls} of {marker.asked} calls are there: {done.stderr}")
        rounds.count_round(problem, f"{name}, {length} of {size} bytes, {'busy' if is_busy else 'idle'}")


if __name__ == "__main__":
    main()
