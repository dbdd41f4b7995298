"""
The module. Everything in it is exported by `warpload`, where its documentation is read.
"""

from _typeshed import SupportsGetItem
from collections.abc import Mapping
from numpy import uint32
from numpy.typing import NDArray
from os import PathLike
from types import CapsuleType
from typing import Any, Final, SupportsIndex, final
from warpload._types import Address

__all__ = ["__version__", "Answer", "Instruction", "LaneFault", "Machine", "Memory", "Outcome", "Replayed", "Table", "Trace", "Warp", "WarpFault", "call", "decode", "encode", "execute", "per_pc", "per_pc_copies", "run", "shard_summary", "survive_forks"]

__version__: Final[str]

@final
class Answer:
    """
    What the command wrote.
    """
    def check(self, /) -> None:
        """
        Raises the first error, if there is one.
        """
    @property
    def drawing(self, /) -> str:
        """
        The messages as they are drawn on standard error.
        """
    @property
    def errors(self, /) -> list[str]:
        """
        What each of the errors says.
        """
    @property
    def output(self, /) -> bytes:
        """
        What goes to standard output.
        """

@final
class Instruction:
    """
    A load instruction.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def address(self, /) -> Address:
        """
        The base register, `None` if there is none, and the offset in bytes.
        """
    @property
    def destination(self, /) -> str | None:
        """
        The first register that is written; `None` if values go to shared memory.
        """
    @property
    def guard(self, /) -> str | None:
        """
        The guard: `@P0`, `@!P0`, `@UP0`; `None` if every active lane executes.
        """
    @property
    def mnemonic(self, /) -> str:
        """
        The mnemonic without modifiers: `LDG`.
        """
    @property
    def opcode(self, /) -> str:
        """
        The mnemonic with its modifiers: `LDG.E.64`.
        """
    @property
    def plg(self, /) -> str | None:
        """
        The predicate that says whether a generic address is local or global (true) or shared (false);
        `None` if none does.
        """
    @property
    def registers(self, /) -> int | None:
        """
        How many registers are written; `None` if the instruction cannot be executed.
        """
    @property
    def size(self, /) -> int | None:
        """
        The size of a lane's access in bytes; `None` if the instruction cannot be executed.
        """
    @property
    def sm(self, /) -> str:
        """
        The SM that the word is of: `90a`.
        """
    @property
    def space(self, /) -> str | None:
        """
        The memory that is addressed: `generic`, `global`, `local`, `shared`, `constant` or `tensor`;
        `None` if that is not documented.
        """
    @property
    def text(self, /) -> str:
        """
        The text, without scheduling.
        """
    @property
    def uniform_base(self, /) -> str | None:
        """
        The uniform register that is added to the address; `None` if there is none.
        """
    @property
    def word(self, /) -> int:
        """
        The word.
        """

@final
class LaneFault:
    """
    A fault of one lane.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def address(self, /) -> int:
        """
        The address.
        """
    @property
    def bytes(self, /) -> int:
        """
        The access size in bytes.
        """
    @property
    def error(self, /) -> str:
        """
        What the hardware reports.
        """
    @property
    def kind(self, /) -> str:
        """
        `outside_window`, `outside_allocation` or `misaligned_address`.
        """
    @property
    def lane(self, /) -> int:
        """
        The lane.
        """
    @property
    def rounded(self, /) -> int:
        """
        The address rounded down to the access size.
        """
    @property
    def space(self, /) -> str | None:
        """
        The memory that the rounded address is in; `None` if the lane cannot access it.
        """

@final
class Machine:
    """
    What a warp executes on: a memory, how many registers there are, and what misaligned addresses do:
    `force` rounds them down, `report` rounds them down and reports a fault.
    """
    def __new__(cls, /, memory: Memory, *, register_limit: SupportsIndex = 255, misaligned: str = "force") -> Machine: ...
    def __repr__(self, /) -> str: ...
    def execute(self, /, instruction: "Instruction | str", warp: Warp, *, reference: bool = False) -> Outcome:
        """
        Executes an instruction, or the text of one of SM 5.x: see :func:`execute`.
        """
    @property
    def memory(self, /) -> Memory:
        """
        What loads read.
        """
    @property
    def misaligned(self, /) -> str:
        """
        What misaligned addresses do.
        """
    @staticmethod
    def open(manifest: str | PathLike[str], *, mmap: bool = False) -> Machine:
        """
        Returns the machine that the manifest of a memory image describes.

        If one file holds all bytes, `mmap` maps it instead of reading it. It must not change while the machine's
        memory is there: if it becomes shorter, a signal ends the process.
        """
    @property
    def register_limit(self, /) -> int:
        """
        How many registers there are.
        """

@final
class Memory:
    """
    All memory of a machine. It does not change.

    `allocations` are those of global memory: bytes by their first address. Local memory is given as the
    bytes of all 32 lanes, lane 0's first. Addresses have 40 bits, and 49 for instructions of SM 7.0 and later, unless
    `address_bits` says how many.

    Bytes of one read-only object, `bytes` or a read-only `mmap.mmap` or views of it, are borrowed; all other
    bytes are copied.
    """
    def __len__(self, /) -> int:
        """
        How many bytes there are in all.
        """
    def __new__(cls, /, allocations: Mapping | None = None, *, shared: Any | None = None, local_low: Any | None = None, local_high: Any | None = None, constant: Mapping | None = None, address_bits: SupportsIndex | None = None, shared_window: tuple[SupportsIndex, SupportsIndex] = ..., local_window: tuple[SupportsIndex, SupportsIndex] = ...) -> Memory: ...
    def __repr__(self, /) -> str: ...
    @property
    def address_bits(self, /) -> int | None:
        """
        How many bits addresses have; ``None`` if the SM of the instruction that is executed decides: 40, or 49 from
        SM 7.0 on.
        """
    @property
    def allocations(self, /) -> list[tuple[int, int]]:
        """
        The first address and the size of each global allocation, ascending.
        """
    @property
    def is_borrowed(self, /) -> bool:
        """
        Whether the bytes are those of an object that was given, instead of copies.
        """

@final
class Outcome:
    """
    What executing a load did, apart from the values, which are in the warp.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def destination(self, /) -> tuple[int, int] | None:
        """
        The general registers that were written: the number of the first, and how many; `None` if there are
        none.
        """
    @property
    def executing(self, /) -> int:
        """
        The lanes that executed, bit n for lane n.
        """
    @property
    def lane_faults(self, /) -> list[LaneFault]:
        """
        The faults of single lanes.
        """
    @property
    def other_half(self, /) -> tuple[int, int] | None:
        """
        Of 256 bits, the registers of the last four words.
        """
    @property
    def uniform(self, /) -> str | None:
        """
        The path of a `.U.128`: `broadcast` or `divergent`; `None` for other loads.
        """
    @property
    def warp_fault(self, /) -> WarpFault | None:
        """
        The fault that kept the whole warp from loading; `None` if there is none.
        """

@final
class Replayed:
    """
    What a replay wrote.
    """
    @property
    def messages(self, /) -> list[str]:
        """
        Notes for its reader.
        """
    @property
    def page(self, /) -> str | None:
        """
        The page, if one was asked for.
        """
    @property
    def per_pc(self, /) -> Table:
        """
        The counts of each program counter.
        """
    @property
    def summary(self, /) -> bytes:
        """
        The summary as JSON.
        """

@final
class Table:
    """
    A table, as the dataframe libraries read it: `polars.DataFrame(table)`, `pyarrow.table(table)`.

    Batches of a trace's loads are made when they are asked for, so that they take no memory; an error in
    the trace is found then.
    """
    def __arrow_c_schema__(self, /) -> CapsuleType:
        """
        Returns the columns as a schema of the Arrow C data interface.
        """
    def __arrow_c_stream__(self, /, requested_schema: "object | None" = None) -> CapsuleType:
        """
        Returns the table as a stream of the Arrow C data interface: a new one each time.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """

@final
class Trace:
    """
    A trace that is open. `warpload.Trace` is what it is used through.
    """
    def __len__(self, /) -> int:
        """
        How many loads there are.
        """
    def __new__(cls, /, path: str | PathLike[str], *, threads: SupportsIndex | None = None, mmap: bool = False) -> Trace:
        """
        Opens a trace; a text trace is imported.
        """
    def contents_json(self, /) -> bytes:
        """
        The contents as JSON.
        """
    def loads(self, /, *, values: bool = False, fill: str | None = None, address_bits: SupportsIndex | None = None, shared_window: tuple[SupportsIndex, SupportsIndex] | None = None, local_window: tuple[SupportsIndex, SupportsIndex] | None = None, threads: SupportsIndex = ...) -> Table:
        """
        Returns the loads as a table, whose batches are made when they are asked for.
        """
    def replay(self, /, options: SupportsGetItem[int, str], *, image: Memory | None = None, page: bool = False, progress: Any | None = None) -> Replayed:
        """
        Replays the loads with options of the command, of which the last is the trace's name.
        """

@final
class Warp:
    """
    The state of a warp: 255 registers of 32 lanes, predicates, uniform registers and the active lanes.

    `registers` are rows of 32 values from R0 on, `(n, 32)`; the others are 0. `predicates` are masks from P0
    on, bit n for lane n.
    """
    def __eq__(self, other: object, /) -> bool: ...
    def __getitem__(self, register: SupportsIndex, /) -> NDArray[uint32]:
        """
        Returns the 32 values of a register: a copy.
        """
    def __new__(cls, /, registers: Any | None = None, *, predicates: Any | None = None, active: SupportsIndex = ..., uniform_registers: Any | None = None, uniform_predicates: SupportsIndex = 0) -> Warp: ...
    def __repr__(self, /) -> str: ...
    def __setitem__(self, register: SupportsIndex, values: Any, /) -> None:
        """
        Sets a register, in all lanes to the same value or to 32 values.
        """
    @property
    def active(self, /) -> int:
        """
        The active lanes, bit n for lane n.
        """
    @active.setter
    def active(self, /, mask: SupportsIndex) -> None: ...
    def copy(self, /) -> Warp:
        """
        Returns a copy.
        """
    @property
    def predicates(self, /) -> NDArray[uint32]:
        """
        The predicates P0 to P6 as masks, `(7,)` of `uint32`: a copy.
        """
    @predicates.setter
    def predicates(self, /, masks: Any) -> None: ...
    @property
    def registers(self, /) -> NDArray[uint32]:
        """
        All registers, `(255, 32)` of `uint32`: a copy. Assigning `(n, 32)` sets R0 to Rn-1.
        """
    @registers.setter
    def registers(self, /, values: Any) -> None: ...
    @property
    def uniform_predicates(self, /) -> int:
        """
        The uniform predicates: bit n is UPn.
        """
    @uniform_predicates.setter
    def uniform_predicates(self, /, bits: SupportsIndex) -> None: ...
    @property
    def uniform_registers(self, /) -> NDArray[uint32]:
        """
        The uniform registers UR0 to UR254, `(255,)` of `uint32`: a copy.
        """
    @uniform_registers.setter
    def uniform_registers(self, /, values: Any) -> None: ...

@final
class WarpFault:
    """
    A fault of a whole warp, before any lane reads memory.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def error(self, /) -> str:
        """
        What the hardware reports.
        """
    @property
    def kind(self, /) -> str:
        """
        `misaligned_register` or `out_of_range_register`.
        """
    @property
    def register(self, /) -> str:
        """
        The register at fault.
        """

def call(arguments: SupportsGetItem[int, str], input: bytes | None = None) -> Answer:
    """
    Runs the command with `input` as standard input, and returns what it writes.
    """

def decode(word: "SupportsIndex", sm: "str | SupportsIndex" = ...) -> "Instruction | None":
    """
    Returns the load that a word is; `None` if it is another instruction.

    Words are of at most 64 bits before SM 7.0, and of 128 bits from there on.

    >>> warpload.decode(0x80d0000000070404)
    Instruction('LD.E.128 R4, [R4], P0', sm='50')
    """

def encode(text: str, sm: "str | SupportsIndex" = ...) -> int:
    """
    Returns the word of the load that a text is.

    >>> hex(warpload.encode("LD.E.128 R4, [R4], P0"))
    '0x80d0000000070404'
    """

def execute(instruction: "Instruction | str", machine: Machine, warp: Warp, *, reference: bool = False) -> Outcome:
    """
    Executes a load: changes the registers of `warp`, and returns what happened besides. `reference` takes
    the literal executor instead of the fast one.
    """

def per_pc(summary: bytes) -> Table:
    """
    Returns the counts of each program counter in a summary's JSON.
    """

def per_pc_copies(summary: bytes) -> Table:
    """
    Returns the counts of each program counter of copies in a summary's JSON.
    """

def run(arguments: SupportsGetItem[int, str], *, own_process: bool = False, stdout_is_closed: bool = False) -> int:
    """
    Runs the command in this process, with its streams, and returns the exit status. `own_process` says
    that the process does nothing else, so that signals are the command's; `stdout_is_closed`, that its standard
    output was closed, and is something else by now.
    """

def shard_summary(summary: bytes) -> bytes:
    """
    Returns the JSON of a shard's summary in the form of the whole, with the kernels that the shard touched.
    """

def survive_forks() -> None:
    """
    Lets a child of this process use all of this, whatever other threads were doing when it was forked.
    """
