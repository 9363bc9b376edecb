"""A sweep: every accessor of every pool class of a tree, without a report; what could be judged, and what could not
and why."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from cuda_probe.plan import Experiment, Plan, PlanError
from cuda_probe.recipe import ARMED_BY, Recipe, accessors
from cuda_probe.recipes import recipe_for


def sweep_plan(package: str, tree: Path) -> Plan:
    """Return an experiment for each accessor of each pool class. This imports, and so executes, the modules of the
    pools.

    Raises:
        PlanError: there is no recipe for the package, or the tree has none of its pools.
    """
    from cuda_probe.dispatch import Machine, running
    from cuda_probe.loading import imported_tree

    recipe = recipe_for(package)
    if recipe is None:
        raise PlanError(f"there is no recipe for {package}")
    with imported_tree(recipe.importer(tree)), running(Machine(), available=recipe.available):
        recipe.prepare()
        experiments = tuple(_experiments(recipe, tree))
    if not experiments:
        raise PlanError(f"{tree} has no pool of {package} in {', '.join(recipe.pools)}")
    return Plan(package, "", experiments)


def _experiments(recipe: Recipe, tree: Path) -> Iterator[Experiment]:
    for file in sorted({file for pattern in recipe.pools for file in tree.glob(pattern)}):
        module = ".".join(file.relative_to(tree).with_suffix("").parts)
        for class_ in _classes(module):
            for method in accessors(class_, recipe.layered):
                name = f"{class_.__name__}.{method}"
                yield Experiment(name, "gated", None, (), module, class_.__name__, method, (), None, "base")


def _classes(module: str) -> list[type]:
    try:
        names = vars(import_module(module)).values()
    except ImportError:
        return []
    classes = [
        one for one in names if isinstance(one, type) and one.__module__ == module and not inspect.isabstract(one)
    ]
    return [one for one in classes if hasattr(one, ARMED_BY)]


def table(records: Sequence[Mapping[str, Any]]) -> str:
    """Return a line a pair, how many there are of each verdict, and the causes of what could not be judged."""
    lines = [f"{record['experiment']['id']:<64} {record['label']}" for record in records]
    counts = Counter(record["verdict"] for record in records)
    lines.append(
        f"\n{len(records)} pairs: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    )
    causes = Counter(record["failure"] or record["doubt"] for record in records if record["failure"] or record["doubt"])
    lines += [f"{count:>4}  {cause}" for cause, count in causes.most_common()]
    return "\n".join(lines) + "\n"
