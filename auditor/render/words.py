"""Verdicts and reasons in plain words: what each one means, and what would change it."""

from __future__ import annotations

from collections.abc import Mapping

UNKNOWN: Mapping[str, tuple[str, str]] = {
    "receiver-unresolved": (
        "no class could be found that the receiver may have",
        "an annotation on the receiver, or the missing package read with --with, so that its class is known",
    ),
    "receiver-dynamic": (
        "the receiver, or the method's name, is made at run time",
        "a direct call, or an annotation that names the classes",
    ),
    "layer-unrelated": (
        "the layer that is waited for and the layer that is read could not be related",
        "the same variable in the wait and in the read",
    ),
    "guard-not-implied": (
        "the gate stands under a condition that nothing ties to a load being in flight",
        "the condition taken off the gate, or an assumption of the rule pack that implies it",
    ),
    "memoised-gate": (
        "the wait is skipped when a memo says that it was done, and nothing shows that each load resets the memo",
        "a reset of the memo where a load starts",
    ),
    "arming-order": (
        "the counter is registered more than once, in an order that could not be told",
        "one place that registers the counter last",
    ),
    "stream-unknown": (
        "the stream that the kernel runs on could not be told",
        "a stream that is named where the kernel is launched",
    ),
    "escape-untracked": (
        "the buffer is put into an object that could not be followed to its use",
        "a wait where it is read, or a call of the accessor each time",
    ),
    "unreached": (
        "no entry point reaches this code, so nothing says what is held here",
        "an entry point in the rule pack, or a caller in the tree",
    ),
    "address-escaped": (
        "the address of the buffer is taken, and who reads through it cannot be seen",
        "a gate before the address is used",
    ),
    "pack-gap": (
        "the rule pack does not know this class, gate or kernel",
        "an entry in a rule pack",
    ),
    "limit": (
        "a limit of the analysis was reached",
        "simpler code on this path; the limit is named in the report",
    ),
}

EXEMPT: Mapping[str, str] = {
    "metadata": "only its shape, type or device is used, no element is read",
    "address": "only its address or a reference to it is taken, no element is read here",
    "store": "it is written here, not read",
    "not-loaded": "no loader writes this buffer, so there is no load to wait for",
    "no-load": "no load can be in flight when this code runs",
    "transfer-side": "this code is part of the transfer itself",
    "not-a-pool": "the receiver is not a pool",
}


def unknown(reason: str) -> tuple[str, str]:
    """Return what a reason of ``unknown`` means and what would change it; ``limit(depth)`` is a ``limit``."""
    return UNKNOWN.get(reason.partition("(")[0], (reason or "no reason was given", "nothing that is known"))


def exempt(reason: str) -> str:
    """Return what a reason of ``exempt`` means."""
    return EXEMPT.get(reason, reason or "no element is read")


def execution(name: str) -> str:
    """Return when a ``mode/phase`` happens; "" for the ordinary one, in which Python runs the forward pass."""
    return "a captured graph is replayed" if name.startswith("replay/") else ""
