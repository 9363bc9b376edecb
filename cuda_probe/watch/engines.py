"""Where engines signal that a layer is loaded, and where they wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Engine:
    """Places as ``module:name``. ``signals``: the class of the events of one load, with ``complete(layer)``,
    ``wait(layer)`` and ``load_events``; ``counter``: the attribute of a pool that has them in
    ``events[consumer_index]``; ``stream``: returns the current stream; ``load``: the method that copies a layer,
    which is delayed if asked for.
    """

    signals: str
    counter: str
    stream: str
    load: tuple[str, ...] = ()


ENGINES: Mapping[str, Engine] = {
    "sglang": Engine(
        "sglang.srt.managers.cache_controller:LayerLoadingEvent",
        "layer_transfer_counter",
        "torch.cuda:current_stream",
    ),
    "minikv": Engine(
        "minikv.counter:LayerLoadingEvent",
        "layer_transfer_counter",
        "minikv.device:current_stream",
        tuple(
            f"minikv.host_pools:{name}.load_to_device_per_layer"
            for name in ("PairPoolHost", "LatentPoolHost", "IndexedPoolHost", "RouterPoolHost")
        ),
    ),
}

DELAY_VARIABLE = "SGLANG_TEST_HICACHE_H2D_DELAY_CYCLES"
"""SGLang (0.5.23 and later) delays each copy of a layer by so many cycles itself."""
