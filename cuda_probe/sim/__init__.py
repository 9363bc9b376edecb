"""A device that is simulated: who comes after whom is computed, not observed, so one run is enough for a verdict.

An *operation* is work of an *agent* (a stream, or a thread of the host); an *edge* says that one comes after another;
two accesses of common bytes, one of them a write, that no chain of edges orders are a *race*. A *schedule* decides
when work is done, so that a race can be made to show: its *witness* is the schedule that starves its first operation.
Needs the standard library only.
"""

from cuda_probe.sim.clock import Agent
from cuda_probe.sim.device import CaptureError, Device, Event, Stream
from cuda_probe.sim.graph import Graph
from cuda_probe.sim.memory import Access, ranges
from cuda_probe.sim.operation import Frame, Operation, Race
from cuda_probe.sim.order import path
from cuda_probe.sim.schedule import Choices, Earliest, Latest, Random, Schedule, Starve, explore, schedule_named
from cuda_probe.sim.threads import host_edges
from cuda_probe.sim.timed import Timed, Window

__all__ = [
    "Access",
    "Agent",
    "CaptureError",
    "Choices",
    "Device",
    "Earliest",
    "Event",
    "Frame",
    "Graph",
    "Latest",
    "Operation",
    "Race",
    "Random",
    "Schedule",
    "Starve",
    "Stream",
    "Timed",
    "Window",
    "explore",
    "host_edges",
    "path",
    "ranges",
    "schedule_named",
]
