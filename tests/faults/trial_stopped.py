"""A tracker that is stopped (SIGSTOP) for a while, in which its command may end."""

import signal
import time

from faults import COMMAND, main, trial, wait_until


@trial("stopped", "run, while its command ends", 3, 60)
def stopped_tracker(rounds):
    for number in rounds:
        folder = rounds.fresh()
        process = rounds.start([COMMAND, "run", "--st", "0.01", "--tf", "t.csv", "-o", "r.json", "--", "sh", "-c", "echo >started; sleep 0.05; echo output; exit 7"],
                               cwd=folder)
        wait_until(lambda: (folder / "started").exists() or process.poll() is not None, "the command")
        time.sleep(rounds.random.uniform(0, 0.06))
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.15)
        process.send_signal(signal.SIGCONT)
        output, _ = process.communicate(timeout=60)
        rounds.processes.remove(process)
        lost = process.returncode != 7 or output != b"output\n" or not (folder / "r.json").exists()
        rounds.count_round(f"exit status {process.returncode}, output {output!r}" if lost else "", f"round {number}")


if __name__ == "__main__":
    main()
