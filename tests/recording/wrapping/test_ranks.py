"""A program of several processes, each watched by a doctor of its own, computes what it computes
alone, and no rank waits for another one because of that.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch.distributed

_RANKS = 2
_SHARDED = """
import os, sys
import torch, torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

rank, ranks, place = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
torch.set_num_threads(1)
dist.init_process_group("gloo", store=dist.FileStore(place, ranks), rank=rank, world_size=ranks)
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
mesh = init_device_mesh("cpu", (ranks,))
for layer in (net[0], net[2], net):
    fully_shard(layer, mesh=mesh)
optimizer = torch.optim.Adam(net.parameters(), 0.02)
torch.manual_seed(rank)
for step in range(80):
    x = torch.randn(16, 4)
    loss = ((net(x) - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
dist.destroy_process_group()
"""

_CAN = torch.distributed.is_available() and torch.distributed.is_gloo_available()


def started(folder: Path, name: str, doctor: Sequence[str] = ()) -> list[subprocess.Popen[str]]:
    """The processes of one run of the program."""
    settings = {"OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    place = str(folder / f"{name}.store")
    return [
        subprocess.Popen(
            [sys.executable, *(each.format(rank) for each in doctor), "train.py", str(rank),
             str(_RANKS), place],
            cwd=folder,
            env={**os.environ, **settings},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(_RANKS)
    ]  # fmt: skip


@pytest.mark.skipif(
    not _CAN or sys.platform != "linux", reason="this PyTorch has no gloo, or no lo"
)
def test_parameters_that_are_spread_over_processes(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(_SHARDED, encoding="utf-8")
    doctor = ("-m", "whygrad", "doctor", "--json", "report-{}.json")
    processes = [*started(tmp_path, "plain"), *started(tmp_path, "watched", doctor)]
    try:
        printed = [each.communicate(timeout=240) for each in processes]
    finally:
        for each in processes:
            each.kill()
            each.wait()
    assert [each.returncode for each in processes] == [0] * len(processes), printed
    losses = [output for output, _ in printed]
    assert losses[:_RANKS] == losses[_RANKS:]
    assert losses[0] != losses[1]  # each rank has data of its own
    for rank in range(_RANKS):
        report = json.loads((tmp_path / f"report-{rank}.json").read_text(encoding="utf-8"))
        assert report["verdict"] is None
        assert report["status"] == "healthy"
