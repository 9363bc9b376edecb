"""Arguments for code of an engine: by the names of parameters, and by what their annotations tell."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


class UnknownArgument(LookupError):
    """Indicates a parameter for which there is no value."""


Otherwise = Callable[[str, inspect.Parameter], Any]
"""What to give for a parameter (of what, which) of which nothing is known; it may raise ``UnknownArgument``."""


def refuse(owner: str, parameter: inspect.Parameter) -> Any:
    """Give nothing.

    Raises:
        UnknownArgument: always.
    """
    raise UnknownArgument(f"no value for the parameter {parameter.name!r} of {owner}")


@dataclass(frozen=True, slots=True)
class Arguments:
    """Where arguments come from: by the names of parameters, then by their annotations, then ``otherwise``.

    An annotation tells a value where there is but one that adds nothing: None where that is allowed, False for a
    flag. A class of ``package`` is built in the same way.
    """

    values: Mapping[str, Any]
    package: str
    otherwise: Otherwise = refuse

    def of(self, function: Callable[..., Any], given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Choose the arguments of a function: those without a default, and all of ``given`` that it takes.

        Raises:
            UnknownArgument: for a parameter there is no value.
        """
        parameters = inspect.signature(function).parameters
        return self._chosen(function.__qualname__, parameters, given or {}, _globals(function))

    def build(self, class_: type, given: Mapping[str, Any] | None = None) -> Any:
        """Build an object with arguments chosen by name; one that takes ``*args, **kwargs`` takes what the next one
        up does.

        Raises:
            UnknownArgument: for a parameter there is no value.
        """
        return class_(**self.of_class(class_, given))

    def of_class(self, class_: type, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Choose the arguments with which a class is built.

        Raises:
            UnknownArgument: for a parameter there is no value.
        """
        parameters, scope = self._constructor(class_)
        return self._chosen(class_.__qualname__, parameters, given or {}, scope)

    def parameters_of(self, class_: type) -> Mapping[str, inspect.Parameter]:
        """Return the parameters with which a class is built, ``self`` among them."""
        return self._constructor(class_)[0]

    def _constructor(self, class_: type) -> tuple[dict[str, inspect.Parameter], dict[str, Any]]:
        parameters: dict[str, inspect.Parameter] = {}
        scope: dict[str, Any] = {}
        for base in class_.__mro__:
            if "__init__" not in vars(base):
                if "__signature__" in vars(base):  # a structure
                    return {**vars(base)["__signature__"].parameters, **parameters}, scope
                continue
            init = vars(base)["__init__"]
            own = inspect.signature(init).parameters
            parameters, scope = {**own, **parameters}, {**_globals(init), **scope}
            kinds = {parameter.kind for name, parameter in own.items() if name != "self"}
            variable = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
            if not (variable <= kinds or kinds == {inspect.Parameter.VAR_KEYWORD}):  # they may be for somebody else
                break
        return parameters, scope

    def _chosen(
        self,
        owner: str,
        parameters: Mapping[str, inspect.Parameter],
        given: Mapping[str, Any],
        scope: Mapping[str, Any],
    ) -> dict[str, Any]:
        chosen: dict[str, Any] = {}
        for name, parameter in parameters.items():
            if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if name in given:
                chosen[name] = given[name]
            elif parameter.default is parameter.empty:
                chosen[name] = self.values[name] if name in self.values else self._told(owner, parameter, scope)
        return chosen

    def _told(self, owner: str, parameter: inspect.Parameter, scope: Mapping[str, Any]) -> Any:
        """Return what the annotation tells, or ``otherwise``."""
        written = _written(parameter.annotation)
        if written == "bool":
            return False
        if written.removeprefix("typing.").startswith("Optional[") or "None" in written.replace("|", " ").split():
            return None
        class_ = scope.get(written) or _loaded(written, self.package)
        if isinstance(class_, type) and _top(class_.__module__) == self.package and not inspect.isabstract(class_):
            return self.build(class_)
        return self.otherwise(owner, parameter)


def _written(annotation: Any) -> str:
    """Return an annotation as it is written."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__qualname__", repr(annotation))


def _loaded(name: str, package: str) -> type | None:
    """Return the class of a package that has this name, of those that are imported: an annotation may name what its
    module imports for type checkers only."""
    for module in [module for path, module in list(sys.modules.items()) if _top(path) == package]:
        found = vars(module).get(name)
        if isinstance(found, type) and found.__module__ == module.__name__:
            return found
    return None


def _top(module: str) -> str:
    return module.partition(".")[0]


def _globals(function: Callable[..., Any]) -> dict[str, Any]:
    found: dict[str, Any] = getattr(inspect.unwrap(function), "__globals__", {})
    return found
