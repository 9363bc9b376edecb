"""Recipes of engines, by the name of their package. A recipe of one's own is an entry point of the group
``cuda_probe.recipes``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cuda_probe.recipe import Recipe

BUILT_IN: Mapping[str, str] = {
    "lmcache": "cuda_probe.recipes.lmcache:LMCache",
    "minikv": "cuda_probe.recipes.minikv:MiniKV",
    "sglang": "cuda_probe.recipes.sglang:SGLang",
    "vllm": "cuda_probe.recipes.vllm:VLLM",
}


def recipe_for(package: str) -> Recipe | None:
    """Return the recipe of an engine, None if nobody has written one."""
    for point in entry_points(group="cuda_probe.recipes"):
        if point.name == package:
            make: Callable[[], Recipe] = point.load()
            return make()
    if package not in BUILT_IN:
        return None
    module, _, name = BUILT_IN[package].partition(":")
    recipe: Recipe = getattr(import_module(module), name)()
    return recipe
