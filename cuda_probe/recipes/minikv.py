"""The miniature engine of ``fixtures/engine``: its own runner builds pools and backends, its own controller loads
them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch

from cuda_probe.dispatch import Machine
from cuda_probe.evidence import Fidelity
from cuda_probe.loading import TreeImporter
from cuda_probe.objects import tensors
from cuda_probe.recipe import Build, Rig, Wanted

CONFIGURATIONS: Mapping[str, Mapping[str, Any]] = {
    "pair": {},
    "latent": {"attention": "latent"},
    "latent, sparse": {"attention": "latent", "sparse": True},
    "compressed": {"attention": "compressed"},
    "pair, some layers": {"full_attention_layer_ids": (0, 2)},
    "latent, some layers": {"attention": "latent", "full_attention_layer_ids": (0, 2)},
    "pair, some layers, vector": {"full_attention_layer_ids": (0, 2), "backend": "vector"},
    "pair, some layers, ordered vector": {"full_attention_layer_ids": (0, 2), "backend": "ordered-vector"},
}
ROWS, DIM = 8, 8


class MiniKV:
    """Needs no stubs."""

    package = "minikv"
    available = True
    pools = ("minikv/*.py",)
    layered = frozenset({"layer", "layer_id"})

    def importer(self, tree: Path, modules: Iterable[str] = (), *, kernels: bool = False) -> TreeImporter:
        """Execute every module."""
        return TreeImporter(tree, "minikv", ("minikv",))

    def prepare(self) -> None:
        """Do nothing."""

    def builds(self, wanted: Wanted) -> Iterator[tuple[str, Build]]:
        """Return every configuration there is."""
        for name, options in CONFIGURATIONS.items():
            yield name, partial(self._build, options)

    def values(self, rig: Rig, layer: int) -> Mapping[str, Any]:
        """Return arguments by name; the rows are those that are loaded."""
        rows = torch.arange(ROWS)
        batch = SimpleNamespace(rows=rows, token_to_kv_pool=rig.pool, is_decode=False)
        of_pools = {"layer_id": layer, "layer": SimpleNamespace(layer_id=layer), "loc": rows, "rows": rows}
        return {**of_pools, "q": torch.full((2, DIM), 0.1, device="cuda"), "forward_batch": batch}

    def _build(self, options: Mapping[str, Any], machine: Machine | None) -> Rig:
        config = import_module("minikv.configurator").ModelConfig(dim=DIM, **options)
        runner = import_module("minikv.runner").ModelRunner(config)
        controller = runner.cache_controller
        torch.manual_seed(0)
        for _, tensor in tensors(controller.mem_pool_host, "minikv"):
            if not (tensor.is_cuda if machine is None else machine.memory.holds(tensor)):
                tensor.normal_()

        def start_load(_: Sequence[torch.Tensor], __: int) -> int:
            controller.load(torch.arange(ROWS), torch.arange(ROWS))
            index: int = controller.start_loading()
            return index

        @contextmanager
        def early() -> Iterator[None]:
            copies: list[partial[None]] = []
            host, copy = controller.mem_pool_host, controller.mem_pool_host.load_to_device_per_layer
            original = controller.start_loading

            def copies_last() -> int:
                index: int = original()
                with torch.cuda.stream(controller.load_stream):
                    for one in copies:
                        one()
                return index

            with (
                patch.object(host, "load_to_device_per_layer", lambda *args: copies.append(partial(copy, *args))),
                patch.object(controller, "start_loading", copies_last),
            ):
                yield

        return Rig(
            pool=controller.mem_pool_device,
            layers=controller.layer_num,
            counter=controller.layer_done_counter,
            load_stream=controller.load_stream,
            fidelity=Fidelity("real-init", "real", "real-controller", "real"),
            start_load=start_load,
            early=early,
            holder=runner,
        )
