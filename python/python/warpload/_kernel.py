"""PTX kernels, launched on arrays."""

from __future__ import annotations

import ctypes
import operator
import struct
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from ._errors import Error
from ._native import KernelParameter, Launch, PtxKernel

if TYPE_CHECKING:
    import numpy.typing as npt

Dimensions = Union[int, Sequence[int]]
_FLOATS = {".f16": "<e", ".f32": "<f", ".f64": "<d"}
_INITIAL = "its initial value has no value here"


class UnknownWarning(UserWarning):
    """A launch left an array as it was, because some of its bytes are not known."""


class Globals(Mapping[str, "npt.NDArray[np.uint8]"]):
    """The bytes of the module's ``.global`` and ``.const`` variables after a launch, by name: the ``__device__`` and
    ``__constant__`` variables of CUDA.

    ``launch.globals["table"].view(np.float32)`` are numbers. They are a copy, which later launches do not change. The
    argument ``globals=launch.globals`` of another launch gives the variables these values again, also those of another
    module with the same variables. Addresses of arrays in variables are those of this launch: another has the same ones
    if its arrays have the same sizes.

    A variable with unknown bytes raises an :class:`Error` of the kind ``"fault"``, unless the launch had
    ``dump_unknown=True``.
    """

    def __init__(self, held: Sequence[tuple[str, bytes, str | None]], dumps_unknown: bool) -> None:
        self._held = {name: (data, cause) for name, data, cause in held}
        self._dumps_unknown = dumps_unknown

    def __getitem__(self, name: str) -> npt.NDArray[np.uint8]:
        data, cause = self._held[name]
        if cause is not None and not self._dumps_unknown:
            raise Error(
                f"`{name}` has unknown bytes: {cause}; dump_unknown=True of the launch returns what memory holds there",
                kind="fault",
            )
        return np.frombuffer(data, np.uint8)

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def _known(self) -> dict[str, bytes]:
        """The variables to begin another launch with: without those whose initial value has none here."""
        return {
            name: self[name].tobytes() for name, (_, cause) in self._held.items() if cause != _INITIAL
        }

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(data)} bytes" for name, (data, _) in self._held.items())
        return f"Globals({sizes})"


class Kernel(PtxKernel):
    """A kernel of a module. It runs without a GPU.

    Calling it launches it, like CuPy's ``RawKernel``, but with arrays in host memory. It is compiled at the first launch,
    and its module's variables keep their values from launch to launch.

    Parameters
    ----------
    module
        A :class:`Module`, which other kernels may share, or the path or the text of a module for this kernel alone.
    name
        The kernel's name, mangled if the module has it so; may be left out if the module has only one kernel.

    Raises
    ------
    Error
        If it is not a module (the ``kind`` is ``"syntax"``), or has no such kernel (``"argument"``).

    Examples
    --------
    >>> saxpy = Kernel("saxpy.ptx", "saxpy")  # doctest: +SKIP
    >>> launch = saxpy((4,), (256,), (len(x), 2.0, x, y))  # doctest: +SKIP
    >>> launch.raise_for_faults()  # doctest: +SKIP
    """

    def __call__(
        self,
        grid: Dimensions,
        block: Dimensions,
        args: Sequence[Any] = (),
        *,
        blocks: int | Sequence[int] | None = None,
        globals: Mapping[str, Any] | None = None,
        shared_bytes: int = 0,
        steps: int | None = None,
        allow_illegal: bool = False,
        check: bool | str | Sequence[str] = False,
        trace: bool = False,
        dump_unknown: bool = False,
    ) -> Launch:
        """Launches the kernel, and returns when it has ended.

        The kernel works on copies of the arrays, which are written back at the end; if an exception is raised, the
        arrays are unchanged, but variables of the module have the stores until then. Each array begins at a multiple of
        256 in global memory, at least 4 KiB after the one before, and an access outside of all of them is a fault. Arrays
        that overlap also overlap in the kernel. They are freed at the end, so the next launch has the same addresses.

        A launch waits for others of the same module, in other threads.

        Parameters
        ----------
        grid
            The number of blocks along x, y and z, ``(3,)`` or shorter.
        block
            The number of threads of a block along x, y and z, ``(3,)`` or shorter; at most 1,024 in all.
        args
            An argument for each parameter:

            - an array, or another object with a writeable contiguous buffer: the parameter is a pointer to it;
            - ``None``: a null pointer;
            - a number, of Python or NumPy: it is converted to the parameter's type. Integers may be of either sign,
              because compilers declare ``int`` as ``.u32``;
            - ``numpy.void``, a ``ctypes.Structure`` or ``bytes``: a structure by value, of the parameter's size.
        blocks
            The index of the only block to run, along x, y and z, ``(3,)`` or shorter, from 0, of a grid that may be large.
            All are run if not given.
        globals
            Values of ``.global`` and ``.const`` variables of the module before the launch, by name (mangled if the module has
            it so): an array, ``bytes``, or a number if the variable is one. A value may be shorter than its variable, but
            not longer. Other variables keep their values; :meth:`Module.reset` gives all of them their initial ones.
            :attr:`Launch.globals` has the variables after the launch, and is such a mapping, too.
        shared_bytes
            Dynamic shared memory of a block, in bytes.
        steps
            The limit of warp instructions, after which the launch is given up; 2^30 if not given.
        allow_illegal
            Launch a module although :func:`check` finds it illegal; illegal instructions are not executed.
        check
            Report more than faults of memory: all checks with ``True``, or some of them, ``"races,sync"`` or a list:

            - ``"races"``, or ``"races:shared"``: threads that access the same bytes, if one of them writes and nothing orders
              the accesses;
            - ``"sync"``: undefined uses of barriers and shuffles;
            - ``"uninitialized"``: uses of what nothing has written.
        trace
            Keep the accesses with their values for :attr:`Launch.trace`: compressed, a few bytes each.
        dump_unknown
            Write arrays back even if some of their bytes are not known, with what memory holds there. Without it, such an
            array stays as it was before the launch, :attr:`Launch.unknown` names it, and there is a warning.

        Raises
        ------
        TypeError
            If an argument has another type than its parameter, or an array is not contiguous or not writeable.
        OverflowError
            If a number does not fit its parameter.
        Error
            If the launch does not fit the kernel (the ``kind`` is ``"argument"``), the module is illegal (``"illegal"``), or
            the launch does not end (``"fault"``).
        KeyboardInterrupt
            Soon after Ctrl-C.
        """
        parameters = self.parameters
        if len(args) != len(parameters):
            types = ", ".join(parameter.type for parameter in parameters)
            raise TypeError(
                f"{self.name}: expected {len(parameters)} arguments ({types}), not {len(args)}"
            )
        arguments = [
            _argument(f"parameter {number} ({parameter.type})", parameter, value)
            for number, (parameter, value) in enumerate(zip(parameters, args))
        ]
        only_block = None if blocks is None else _dimensions("blocks", blocks, 0)
        launch = self._launch(
            _dimensions("grid", grid),
            _dimensions("block", block),
            only_block,
            arguments,
            self._variables(globals or {}),
            _number("shared_bytes", shared_bytes, 0),
            None if steps is None else _number("steps", steps, 1),
            allow_illegal,
            _checks(check),
            trace,
            dump_unknown,
        )
        for one in launch.unknown:
            if one.argument is not None and not dump_unknown:
                warnings.warn(
                    f"{self.name}: {one}; the array is unchanged (dump_unknown=True writes it)",
                    UnknownWarning,
                    stacklevel=2,
                )
        return launch

    def _variables(self, given: Mapping[str, Any]) -> list[tuple[str, bytes]]:
        """Converts values of variables to bytes."""
        if isinstance(given, Globals):
            return list(given._known().items())
        if not given:
            return []
        known = {variable.name: variable for variable in self.globals}
        values = []
        for name, value in given.items():
            variable = known.get(name)
            if variable is None:
                names = ", ".join(known) or "none"
                raise Error(f"no variable `{name}`; the module has {names}", kind="argument")
            values.append((name, _value(f"variable `{name}` ({variable.type})", variable, value)))
        return values

    def __repr__(self) -> str:
        types = ", ".join(parameter.type for parameter in self.parameters)
        return f"Kernel({self.file!r}, {self.name!r}: {types})"


def _value(place: str, variable: KernelParameter, value: Any) -> bytes:
    """Converts the value of a variable to bytes."""
    if isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
    elif isinstance(value, np.ndarray):
        if value.dtype.hasobject or not value.dtype.isnative:
            raise TypeError(f"{place}: expected an array of little-endian numbers, not {value.dtype}")
        data = np.asarray(value).tobytes()
    else:
        converted = _argument(place, variable, value)
        data = bytes(converted)
    if len(data) > variable.bytes:
        raise Error(
            f"{place}: has {variable.bytes} bytes, {len(data)} are given", kind="argument"
        )
    return data


def _checks(check: bool | str | Sequence[str]) -> str:
    """The list of checks that :meth:`Kernel._launch` takes."""
    if isinstance(check, bool):
        return "races,sync,uninitialized" if check else ""
    return check if isinstance(check, str) else ",".join(check)


def _number(name: str, value: int, least: int, most: int = 0xFFFF_FFFF_FFFF_FFFF) -> int:
    number = operator.index(value)
    if not least <= number <= most:
        raise Error(f"{name}: expected {least} to {most}, not {number}", kind="argument")
    return number


def _dimensions(name: str, value: Dimensions, least: int = 1) -> tuple[int, int, int]:
    """Converts three numbers, or fewer, to three; `least` stands for those that are not given."""
    sizes = list(value) if isinstance(value, Sequence) else [value]
    if not 1 <= len(sizes) <= 3:
        raise Error(f"{name}: expected one to three numbers, not {len(sizes)}", kind="argument")
    x, y, z, *_ = [_number(name, size, least, 0xFFFF_FFFF) for size in sizes] + [least] * 2
    return x, y, z


def _argument(place: str, parameter: KernelParameter, value: Any) -> bytes | npt.NDArray[np.uint8]:
    """Converts an argument to the bytes of its parameter, or to the array that the parameter points to."""
    kind, size = parameter.type, parameter.bytes
    if hasattr(value, "__cuda_array_interface__"):
        raise TypeError(
            f"{place}: {_type(value)} is in the memory of a GPU, which does not exist here; copy it to a NumPy array, "
            "with `cupy.asnumpy(x)` or `x.cpu().numpy()`"
        )
    if isinstance(value, np.void):
        return _exactly(place, size, value.tobytes())
    if isinstance(value, (bytes, ctypes.Structure)):
        return _exactly(place, size, bytes(value))
    if value is None:
        if not _is_pointer(kind):
            raise TypeError(f"{place}: None is a null pointer; expected {_expected(kind)}")
        return bytes(size)
    if isinstance(value, (bool, int, np.bool_, np.integer)):
        if kind in _FLOATS:
            return _float(place, kind, value)
        return _integer(place, kind, size, int(value))
    if isinstance(value, (float, np.floating)) and kind in _FLOATS:
        return _float(place, kind, value)
    if isinstance(value, np.generic) and kind.startswith(".b") and value.dtype.kind in "fcV":
        # Only the bits count, because LLVM declares a `half` like this.
        return _exactly(place, size, value.tobytes())
    if isinstance(value, (float, complex, str, np.generic)):
        raise TypeError(f"{place}: expected {_expected(kind)}, not {_type(value)}")
    if not _is_pointer(kind):
        raise TypeError(f"{place}: expected {_expected(kind)}, not {_type(value)}")
    return _octets(place, value)


def _type(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _is_pointer(kind: str) -> bool:
    return kind in (".u64", ".b64", ".s64")


def _expected(kind: str) -> str:
    """Describes the arguments that a parameter accepts, for messages."""
    if kind in _FLOATS:
        return "a number"
    if _is_pointer(kind):
        return "an array or an integer"
    if "[" in kind or ".v" in kind:
        return "a structure (numpy.void or bytes)"
    if kind.startswith(".b"):
        return "an integer or a NumPy number of its size"
    return "an integer"


def _exactly(place: str, size: int, value: bytes) -> bytes:
    if len(value) != size:
        raise TypeError(f"{place}: expected {size} bytes, not {len(value)}")
    return value


def _integer(place: str, kind: str, size: int, value: int) -> bytes:
    if kind[1] not in "usb" or "[" in kind or ".v" in kind:
        raise TypeError(f"{place}: expected {_expected(kind)}, not an integer")
    bits = 8 * size
    if not -(1 << bits - 1) <= value < 1 << bits:
        raise OverflowError(f"{place}: {value} does not fit {bits} bits")
    return (value & (1 << bits) - 1).to_bytes(size, "little")


def _float(place: str, kind: str, value: Any) -> bytes:
    try:
        return struct.pack(_FLOATS[kind], float(value))
    except OverflowError:
        raise OverflowError(f"{place}: {value} does not fit {kind}") from None


def _octets(place: str, value: Any) -> npt.NDArray[np.uint8]:
    """Views the bytes of a writeable contiguous buffer without copying them."""
    if isinstance(value, np.ndarray):
        array = value
    else:
        try:
            array = np.asarray(memoryview(value))
        except TypeError:
            hint = "; numpy.asarray makes one of it" if hasattr(value, "__array__") else ""
            raise TypeError(f"{place}: expected an array, not {_type(value)}{hint}") from None
    if array.dtype.hasobject:
        raise TypeError(f"{place}: expected an array of numbers, not of Python objects")
    if not array.dtype.isnative:
        raise TypeError(f"{place}: expected little-endian numbers, not {array.dtype.str}")
    if not array.flags.writeable:
        raise TypeError(f"{place}: the array is read-only; pass a copy (`x.copy()`)")
    if not array.flags.forc:
        raise TypeError(
            f"{place}: the array is not contiguous; pass a contiguous copy (`numpy.ascontiguousarray(x)`)"
        )
    # As a plain array, because subclasses may refuse or change the operations below.
    array = array.view(np.ndarray)
    flat = (array if array.flags.c_contiguous else array.T).reshape(-1)
    return flat.view(np.uint8)
