"""From the linked program to the loader model."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable

from auditor.link import Linker
from auditor.loading.apart import is_apart
from auditor.loading.behind import behind, launches, unlike
from auditor.loading.beside import beside
from auditor.loading.counters import counters_of
from auditor.loading.dispatch import Dispatch
from auditor.loading.effects import Effects
from auditor.loading.fences import stream_of, unfenced
from auditor.loading.naming import methods
from auditor.loading.overriding import dropped
from auditor.loading.ranges import ranges, unshifted
from auditor.loading.reuse import reused
from auditor.loading.sharing import alone, shared
from auditor.loading.signals import early
from auditor.loading.values import COPY, FENCE, JOIN, RECORD, SIGNAL, Lapse, Loader, Loading
from auditor.spec import EngineSpec


def loading_of(linker: Linker, spec: EngineSpec, product: Callable[[str], bool]) -> Loading:
    """Find the loaders in the files that ``product`` admits, and what they leave out."""
    found = counters_of(linker, spec)
    effects = Effects(linker, spec, found, product)
    loaders = _loaders(effects)
    pairs = [(linker.codes[name], loader) for name, loader in loaders.items()]
    allocators = tuple(shared(effects))
    launched = tuple(launches(effects, spec))
    dispatch = Dispatch(effects, spec)
    chosen = (*dispatch.left(),)
    given = (*dispatch.given(), *(lapse for code, one in pairs for lapse in beside(effects, spec, code, one)))
    return Loading(
        loaders=loaders,
        counters=found,
        classes=frozenset(linker.hierarchy.classes),
        apart=frozenset(code.name for code, one in pairs if is_apart(code, one)),
        early=tuple(lapse for code, one in pairs for lapse in early(effects, code, one)),
        unfenced=(
            *(lapse for code, one in pairs for lapse in unfenced(effects, code, one)),
            *(lapse for code, one in pairs for lapse in behind(effects, code, one, launched)),
            *unlike(effects, launched),
        ),
        dropped=tuple(lapse for code, one in pairs for lapse in dropped(effects, code, one)),
        reused=tuple(lapse for code, one in pairs for lapse in reused(effects, code, one)),
        ranges=(
            *ranges(effects),
            *(lapse for code, one in pairs for lapse in unshifted(effects, spec, code, one)),
        ),
        left=(
            *chosen,
            *_untold(chosen, given),
            *(lapse for code, one in pairs for lapse in alone(effects, code, one, allocators)),
        ),
    )


def _untold(told: Iterable[Lapse], more: Iterable[Lapse]) -> tuple[Lapse, ...]:
    """The lapses about a buffer of a class of which nothing is told yet."""
    known = {(cls, lapse.subject) for lapse in told for cls in lapse.classes}
    found = []
    for lapse in more:
        about = {(cls, lapse.subject) for cls in lapse.classes}
        if not about <= known:
            found.append(lapse)
            known |= about
    return tuple(found)


def _loaders(effects: Effects) -> dict[str, Loader]:
    """The functions that copy on a stream of their own, or for a counter, and tell that it is done; or on a stream that
    a method of their class waits for."""
    found = {}
    awaited = functools.cache(lambda cls: _awaited(effects, cls))
    for name in sorted(effects.linker.codes):
        code = effects.linker.codes[name]
        if COPY not in effects.of(name):
            continue
        loader = Loader(name, code.owner, effects.operations(code))
        copies = [one for one in loader.of(COPY) if SIGNAL not in one.kinds]
        tells = loader.of(RECORD) and any(stream_of(code, loader, one) for one in copies)
        own = {
            one.stream for one in copies if code.is_method and one.stream.startswith(f"{code.facts.params[0].name}.")
        }
        if copies and (loader.counts or tells or (own and own & awaited(code.owner))):
            found[name] = loader
    return found


def _awaited(effects: Effects, cls: str) -> frozenset[str]:
    """The streams that the methods of a class wait for, or make another stream wait for."""
    operations = (one for code in methods(effects.linker, cls) for one in effects.operations(code))
    return frozenset(one.awaited for one in operations if one.kinds & {JOIN, FENCE} and one.awaited)
