#!/usr/bin/env python3
"""A small training run on the CPU, profiled by torch.profiler: profiled-training.py TRACE.json

    gpu-tracker run --tf samples.csv -- python3 profiled-training.py trace.json
    gpu-tracker timeline merge trace.json samples.csv -o merged.json
"""

import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule


def main():
    torch.manual_seed(0)
    data = torch.utils.data.TensorDataset(torch.randn(2048, 3, 16, 16), torch.randint(0, 10, (2048,)))
    loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True, num_workers=1)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 32, 3), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 3), torch.nn.ReLU(),
                                torch.nn.Flatten(), torch.nn.Linear(32 * 12 * 12, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=True,
                 schedule=schedule(wait=0, warmup=1, active=10, repeat=1),
                 on_trace_ready=lambda done: done.export_chrome_trace(sys.argv[1])) as profiler:
        for images, labels in loader:
            with record_function("forward"):
                loss = loss_of(model(images), labels)
            with record_function("backward"):
                optimizer.zero_grad()
                loss.backward()
            optimizer.step()
            profiler.step()
    print(f"loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
