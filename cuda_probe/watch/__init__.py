"""The watch: judges the accessors of a plan in a server that runs, call by call.

Every process of the command gets a hook that wraps, when their modules are imported, the accessors of the plan and
the signals of the engine's loader. *Invariants*: it never waits, never raises into the server, asks no event while
any graph is captured in the process (CUDA would break the capture), and writes a bounded number of records.
"""

from cuda_probe.watch.engines import ENGINES, Engine
from cuda_probe.watch.judge import Judge
from cuda_probe.watch.start import install, launch

__all__ = ["ENGINES", "Engine", "Judge", "install", "launch"]
