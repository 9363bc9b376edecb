"""What a rule pack says of an engine: names that the code cannot tell. What can be derived is derived elsewhere.

Name patterns are shell patterns (``get_*buffer*``) matched against the last part of a name, case-sensitively. Every
entry has a ``why``: the sentence that a report shows when somebody asks why this name matters.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """Names of one kind with the reason they are listed. ``patterns`` is never empty."""

    patterns: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Recognition:
    """The engine is there if some file holds all of ``identifiers`` (whole identifiers)."""

    identifiers: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class GatePrimitive:
    """``<owner>.<counter>.<method>(layer)``: the call that makes the order. ``counter`` is the attribute of a pool that
    holds the counter, ``argument`` the position (from 0) of the layer, ``index`` the space that it is in: ``"local"``
    (layer id minus the pool's first layer) or ``"global"``."""

    method: str
    counter: str
    argument: int
    index: str
    why: str


@dataclass(frozen=True, slots=True)
class Arming:
    """The method that gives an object its counter (or None, which disarms it)."""

    method: str
    argument: int
    why: str


@dataclass(frozen=True, slots=True)
class InFlight:
    """``<counter>.<attribute> <operator> <value>`` is true exactly while a load can be in flight."""

    attribute: str
    operator: str
    value: int
    why: str


@dataclass(frozen=True, slots=True)
class Kernel:
    """Functions (``name`` is a pattern of the last part of a name) with parameters that are only stored to, never read:
    ``stores`` are their names or positions, or ``*`` for all."""

    name: str
    stores: tuple[str | int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """A function (qualified-name pattern) with the mode (``eager``, ``replay``) and the phase (``load-possible``,
    ``no-load``) that it runs in."""

    function: str
    mode: str
    phase: str
    why: str


@dataclass(frozen=True, slots=True)
class Assumption:
    """A fact that no code contains. ``scope`` is a qualified-name pattern of functions; ``verdict`` what holds there
    (an ``exempt`` reason); ``upstream`` the line that supports it."""

    id: str
    fact: str
    scope: str
    verdict: str
    why: str
    upstream: str


@dataclass(frozen=True, slots=True)
class Meaning:
    """``test``, a condition as reports show it, is another name of the condition ``means``."""

    test: str
    means: str
    why: str


@dataclass(frozen=True, slots=True)
class Implication:
    """Where the condition ``when`` holds, each condition of ``then`` does as well; or, without a condition, wherever a
    function of ``scope`` runs or an object of ``classes`` exists. A fact that no code contains, like an assumption."""

    when: str
    scope: tuple[str, ...]
    classes: tuple[str, ...]
    then: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Uses:
    """How tensors are used, by attribute and method name: what reads no element (``metadata``), takes the address
    (``address``), makes another view of the same storage (``views``), writes elements (``stores``) or waits for the
    device from the host (``synchronizes``)."""

    metadata: tuple[str, ...]
    address: tuple[str, ...]
    views: tuple[str, ...]
    stores: tuple[str, ...]
    synchronizes: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Graphs:
    """Captured device graphs. ``classes``: those whose objects record what runs in a ``with`` block begun with them;
    ``replay``: their method that runs the record without Python; ``forwards``: calls (the end of the dotted expression)
    that run the whole neural network, so that its layers read the pools, where the code hides which network it is."""

    classes: tuple[str, ...]
    replay: str
    forwards: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Connectors:
    """Loads by plugins. A connector is a class that derives from ``roots``; its method ``load`` starts the loads of a
    forward pass, and ``wait`` returns when the layer at hand is there: whose storage a function reads is the layer that
    its own waits are for. ``offer`` returns (how much it can load, whether that happens between passes): where it is
    between passes, nothing is in flight during one.

    ``absent`` are functions and methods that are false where no connector loads; ``idle`` names that are None in a pass
    without requests; ``uncaptured`` a method that is true of connectors whose waits no device graph may skip."""

    roots: tuple[str, ...]
    wait: str
    load: str
    offer: str
    absent: tuple[str, ...]
    idle: tuple[str, ...]
    uncaptured: str
    why: str


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """One rule pack, checked. ``origin`` is the file it came from, for display.

    ``pools``: class names that start a family of pools (subclasses belong to it). ``accessors``: methods that hand out
    or read buffers. ``buffers``: attributes that hold guarded storage. ``host_side``: classes that never hold device
    buffers or that do the transfer themselves. ``not_pools``: classes whose methods merely look like accessors.
    ``transfers``: functions that enqueue a copy where no code in the tree shows it. ``launches``: methods that run a
    forward pass. ``configuration``: classes whose fields keep their value once the first pool is built. ``parameters``:
    of a pool's methods, those by which code outside the tree passes it guarded storage.
    """

    name: str
    why: str
    origin: str
    version_file: str
    recognise: tuple[Recognition, ...]
    pools: tuple[Names, ...]
    accessors: tuple[Names, ...]
    buffers: tuple[Names, ...]
    gates: tuple[GatePrimitive, ...]
    arming: tuple[Arming, ...]
    in_flight: tuple[InFlight, ...]
    host_side: tuple[Names, ...]
    not_pools: tuple[Names, ...]
    transfers: tuple[Names, ...]
    launches: tuple[Names, ...]
    kernels: tuple[Kernel, ...]
    entries: tuple[EntryPoint, ...]
    assumptions: tuple[Assumption, ...]
    configuration: tuple[Names, ...]
    meanings: tuple[Meaning, ...]
    implications: tuple[Implication, ...]
    uses: Uses
    graphs: Graphs
    connectors: Connectors
    parameters: tuple[Names, ...]
