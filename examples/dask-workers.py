"""Dask: a plugin that tracks each worker; `gpu-tracker job FOLDER` then shows them as one, by the numbers of LocalCluster's workers."""

import os
import sys

import gpu_tracker as gput
from distributed import Client, LocalCluster, WorkerPlugin


class Tracked(WorkerPlugin):
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)

    def setup(self, worker):
        os.makedirs(self.folder, exist_ok=True)
        name = str(worker.name).replace("/", "-")  # a worker without a name has its address
        self.tracker = gput.Tracker(sleep_time=0.1, tracking_file=f"{self.folder}/worker.r{name}.csv", overwrite=True)
        self.tracker.start()

    def teardown(self, worker):
        self.tracker.stop()


def squares(count):
    return sum(number * number for number in range(count))


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.register_plugin(Tracked(sys.argv[1] if len(sys.argv) > 1 else "workers"))
        print(sum(client.gather(client.map(squares, range(1_000_000, 1_000_006)))))
