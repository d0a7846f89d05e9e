"""Small files of every format, cut after each byte, or with one bit flipped: read as far as they say, or refused with a message."""

from faults import main, problem_of, run, trial
from formats import FORMATS

SMALL, LARGE = 15, 4000


def break_file(rounds, row, broken_at):
    """Reads the file with what `broken_at` makes of its bytes at each of the numbers that `rounds` spreads over them."""
    name, file, make, command = row
    folder = rounds.fresh()
    make(folder)
    path = folder / file
    whole = path.read_bytes()
    done = run(*command, folder=folder)
    if done.returncode != 0:
        raise AssertionError(f"{name}: {done.stderr}")
    rounds.note = f"{len(whole):,} bytes"
    for number, broken in broken_at(rounds, whole):
        path.write_bytes(broken)
        done = run(*command, folder=folder)
        problem = problem_of(done)
        if done.returncode > 0 and not problem and len(done.stderr.splitlines()) > 3:
            problem = f"refused with {len(done.stderr.splitlines())} lines"
        rounds.count_round(problem, f"at {number}")


def truncations(rounds, whole):
    for size in rounds.spread(len(whole)):
        yield size, whole[:size]


def flips(rounds, whole):
    for bit in rounds.spread(8 * len(whole)):
        broken = bytearray(whole)
        broken[bit // 8] ^= 1 << bit % 8
        yield f"bit {bit}", bytes(broken)


for format_row in FORMATS:

    @trial("truncation", format_row[0], SMALL, LARGE)
    def truncated(rounds, row=format_row):
        break_file(rounds, row, truncations)

    @trial("bit flip", format_row[0], SMALL, LARGE // 8)
    def flipped(rounds, row=format_row):
        break_file(rounds, row, flips)


if __name__ == "__main__":
    main()
