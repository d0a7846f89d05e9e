"""What torchrun --standalone does as far as a rank can see it, for machines without PyTorch: it starts ranks with their variables, and if one
fails it ends the others and starts all of them again."""

import argparse
import os
import subprocess
import sys
import time
import uuid

parser = argparse.ArgumentParser()
parser.add_argument("--standalone", action="store_true", required=True)
parser.add_argument("--no-python", action="store_true", required=True)
parser.add_argument("--nproc-per-node", type=int, required=True)
parser.add_argument("--max-restarts", type=int, default=0)
parser.add_argument("command", nargs="+")
options = parser.parse_args()


def start(rank, run):
    size = str(options.nproc_per_node)
    variables = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size, "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1",
                 "MASTER_ADDR": "localhost", "MASTER_PORT": "29400", **run}
    return subprocess.Popen(options.command, env=os.environ | variables)


def succeed(ranks):
    while any(rank.poll() is None for rank in ranks) and not any(rank.poll() for rank in ranks):
        time.sleep(0.05)
    for rank in ranks:
        if rank.poll() is None:
            rank.terminate()
    return [rank.wait() for rank in ranks] == [0] * len(ranks)


run_id = str(uuid.uuid4())
for restarts in range(options.max_restarts + 1):
    run = {"TORCHELASTIC_RUN_ID": run_id, "TORCHELASTIC_RESTART_COUNT": str(restarts), "TORCHELASTIC_MAX_RESTARTS": str(options.max_restarts)}
    if succeed([start(rank, run) for rank in range(options.nproc_per_node)]):
        sys.exit(0)
sys.exit(1)
