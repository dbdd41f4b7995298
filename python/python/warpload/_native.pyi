"""
The module. Everything in it is exported by `warpload`, where its documentation is read.
"""

from _typeshed import SupportsGetItem, SupportsLenAndGetItem
from numpy import int16, int32, int64, uint32, uint8
from numpy.typing import NDArray
from os import PathLike
from types import CapsuleType
from typing import Any, Final, SupportsFloat, SupportsIndex, final
from warpload._types import Address, ByteSource, Contents, Examinee, Executor, FailureKind, Family, InstructionSpace, KernelFaultKind, LaneFaultKind, LaneMode, LaneSpace, Misaligned, Numbers, Suite, UniformPath, WarpFaultKind, WordArray

__all__ = ["__version__", "CaseFailure", "Conformance", "Control", "DecodedWords", "Explanation", "Field", "Flag", "FlagCounts", "Instruction", "KernelFault", "KernelParameter", "LaneFault", "LaunchCounts", "Load", "Machine", "Memory", "Outcome", "PtxKernel", "Replayed", "SkippedInstruction", "Table", "TensorLoaded", "TensorMap", "Trace", "Vector", "Warp", "WarpFault", "check_ptx", "compare", "conform", "decode", "decode_array", "encode", "execute", "explain", "generate_vectors", "import_trace", "loads", "lower_ptx", "merge", "read_vectors", "replay_arguments", "run", "run_ptx", "run_tensor_load", "survive_forks", "vector_flags", "vector_instructions", "write_vectors"]

__version__: Final[str]

@final
class CaseFailure:
    """
    A case with another answer than the expected one, or with none.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def differences(self, /) -> list[str]:
        """
        How the answer differs from the expected one, or what else went wrong, one line each.
        """
    @property
    def family(self, /) -> Family | None:
        """
        The family; `None` if the line is not a case.
        """
    @property
    def file(self, /) -> str:
        """
        The file of the case.
        """
    @property
    def flags(self, /) -> list[str]:
        """
        What the case is about.
        """
    @property
    def id(self, /) -> str | None:
        """
        The case's name in its suite; `None` if it has none.
        """
    @property
    def kind(self, /) -> FailureKind:
        """
        What went wrong.
        """
    @property
    def line(self, /) -> int:
        """
        The line in the file, from 1.
        """
    @property
    def stderr(self, /) -> list[str]:
        """
        The end of the standard error of a program that gave no answer, or of the traceback of a function that raised.
        """

@final
class Conformance:
    """
    How an emulator answers the cases of a suite. Is true if none failed and some passed.

    `str()` says what the failures have in common; a notebook shows the flags that explain them.
    """
    def __bool__(self, /) -> bool: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def explanations(self, /) -> list[str]:
        """
        What the failures have in common, a sentence each.
        """
    @property
    def failed(self, /) -> int:
        """
        How many cases failed.
        """
    @property
    def failures(self, /) -> list[CaseFailure]:
        """
        The first failures, as many as were asked for.
        """
    @property
    def families(self, /) -> dict[Family, tuple[int, int, int]]:
        """
        The cases of each family that passed, failed and were skipped.
        """
    @property
    def flags(self, /) -> list[FlagCounts]:
        """
        The flags, those first that explain the failures of their family best.
        """
    @property
    def passed(self, /) -> int:
        """
        How many cases passed.
        """
    @property
    def skipped(self, /) -> int:
        """
        How many cases were skipped.
        """
    @property
    def skips(self, /) -> dict[str, int]:
        """
        Why cases were skipped, with how many for each reason.
        """

@final
class Control:
    """
    How an instruction is scheduled.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def batch(self, /) -> int | None:
        """
        From SM 7.0 on.
        """
    @property
    def pm(self, /) -> int | None:
        """
        From SM 7.0 on.
        """
    @property
    def read_barrier(self, /) -> int | None:
        """
        The barrier that is set when its operands are read; `None` if none is.
        """
    @property
    def reuse(self, /) -> int:
        """
        The operands that stay in the reuse cache.
        """
    @property
    def stall(self, /) -> int:
        """
        Cycles to wait after it.
        """
    @property
    def wait_mask(self, /) -> int:
        """
        The barriers to wait for, bit n for barrier n.
        """
    @property
    def write_barrier(self, /) -> int | None:
        """
        The barrier that is set when its results are written; `None` if none is.
        """
    @property
    def yields(self, /) -> bool:
        """
        Whether another warp may come first.
        """

@final
class DecodedWords:
    """
    What words are, one element a word.

    `opcodes` are the distinct opcodes, and `opcode` says by its index which one each word has.
    """
    def __getitem__(self, index: SupportsIndex, /) -> Instruction | None:
        """
        Returns the load that a word is; `None` if it is not one.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    @property
    def base(self, /) -> NDArray[int16]:
        """
        The number of the base register of the address; -1 if there is none.
        """
    @property
    def destination(self, /) -> NDArray[int16]:
        """
        The number of the first general register that is written; -1 if there is none.
        """
    @property
    def kind(self, /) -> NDArray[uint8]:
        """
        What each word is: 0 another instruction, 1 a load, 2 a load that is refused.
        """
    @property
    def offset(self, /) -> NDArray[int64]:
        """
        The offset of the address in bytes.
        """
    @property
    def opcode(self, /) -> NDArray[int32]:
        """
        The index of each word's opcode in `opcodes`; -1 if it is not a load.
        """
    @property
    def opcodes(self, /) -> list[str]:
        """
        The opcodes with their modifiers, each once.
        """
    @property
    def size(self, /) -> NDArray[uint8]:
        """
        The size of a lane's access in bytes; 0 if it is not executed.
        """

@final
class Explanation:
    """
    What every bit of a word means, and what executing it does.

    `str()` is the text that the command prints; a notebook shows a table.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def drawing(self, /) -> str:
        """
        What the command prints.
        """
    @property
    def effect(self, /) -> str:
        """
        What executing the instruction does.
        """
    @property
    def fields(self, /) -> list[Field]:
        """
        The fields, the most significant first.
        """
    @property
    def remarks(self, /) -> list[str]:
        """
        Remarks on registers and addresses.
        """
    @property
    def sm(self, /) -> str:
        """
        The SM that the word is of.
        """
    @property
    def text(self, /) -> str:
        """
        The instruction.
        """
    @property
    def word(self, /) -> int:
        """
        The word.
        """

@final
class Field:
    """
    A field of a word.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def bits(self, /) -> str:
        """
        The bits, as `63:61`.
        """
    @property
    def meaning(self, /) -> str:
        """
        What the number means.
        """
    @property
    def name(self, /) -> str:
        """
        The field's name.
        """
    @property
    def purpose(self, /) -> str:
        """
        What the field is for.
        """
    @property
    def raw(self, /) -> int:
        """
        The number in these bits.
        """

@final
class Flag:
    """
    A property of vectors.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def is_decision(self, /) -> bool:
        """
        Whether no public source decides what its vectors expect on SM 5.x and 6.x.
        """
    @property
    def is_decision_from_sm70(self, /) -> bool:
        """
        The same from SM 7.0 on.
        """
    @property
    def name(self, /) -> str:
        """
        The name.
        """
    @property
    def note(self, /) -> str:
        """
        What it means, and the clause of the documents.
        """

@final
class FlagCounts:
    """
    How many cases with a flag have which outcome.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def explains(self, /) -> float:
        """
        How well the flag tells the cases that fail from those that pass, 0 to 1.
        """
    @property
    def failed(self, /) -> int:
        """
        How many failed.
        """
    @property
    def family(self, /) -> Family:
        """
        The family of the cases.
        """
    @property
    def flag(self, /) -> str:
        """
        The flag.
        """
    @property
    def passed(self, /) -> int:
        """
        How many passed.
        """
    @property
    def skipped(self, /) -> int:
        """
        How many were skipped.
        """

@final
class Instruction:
    """
    A load instruction, of its text or of its word: `Instruction('LD.E.128 R4, [R4], P0', sm='50')`.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, text_or_word: "SupportsIndex | str", sm: "str | SupportsIndex" = ...) -> Instruction: ...
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
        The first register that is written; `None` if values go to shared memory or nowhere (`RZ`).
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
    def space(self, /) -> InstructionSpace | None:
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
class KernelFault:
    """
    A fault of a thread. The launch went on, except for threads that could not.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def address(self, /) -> int:
        """
        The generic address of the access; 0 for other faults.
        """
    @property
    def argument(self, /) -> int | None:
        """
        The number of the argument, from 0, with the array nearest to an address that is out of bounds; `None` if there
        is none, or another memory is nearer.
        """
    @property
    def block(self, /) -> tuple[int, int, int]:
        """
        The block's index, x first.
        """
    @property
    def distance(self, /) -> int | None:
        """
        Bytes from the end of the nearest memory to an address that is out of bounds, or, negative, to its beginning or
        its end; `None` for other faults.
        """
    @property
    def function(self, /) -> str:
        """
        The function that the instruction is in.
        """
    @property
    def instruction(self, /) -> str:
        """
        The instruction.
        """
    @property
    def kind(self, /) -> KernelFaultKind:
        """
        What went wrong.
        """
    @property
    def lane(self, /) -> int:
        """
        The thread's lane, 0 to 31.
        """
    @property
    def line(self, /) -> int:
        """
        The line of the instruction in the module, from 1.
        """
    @property
    def message(self, /) -> str:
        """
        What went wrong, in words.
        """
    @property
    def source_line(self, /) -> int | None:
        """
        The line of the source that `.loc` names; `None` if the module does not name one.
        """
    @property
    def thread(self, /) -> tuple[int, int, int]:
        """
        The thread's index in its block, x first.
        """

@final
class KernelParameter:
    """
    A parameter of a kernel.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def bytes(self, /) -> int:
        """
        The size in bytes.
        """
    @property
    def name(self, /) -> str:
        """
        The name.
        """
    @property
    def type(self, /) -> str:
        """
        The type as PTX writes it, with the length of an array: `.u64`, `.f32`, `.b8[24]`. A structure by value is an
        array of bytes.
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
    def kind(self, /) -> LaneFaultKind:
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
    def space(self, /) -> LaneSpace | None:
        """
        The memory that the rounded address is in; `None` if the lane cannot access it.
        """

@final
class LaunchCounts:
    """
    What a launch has executed.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def atomics(self, /) -> int:
        """
        Atomic operations and reductions among the warp instructions.
        """
    @property
    def blocks(self, /) -> int:
        """
        Blocks.
        """
    @property
    def loads(self, /) -> int:
        """
        Loads among the warp instructions, including those of parameters.
        """
    @property
    def stores(self, /) -> int:
        """
        Stores among the warp instructions.
        """
    @property
    def thread_instructions(self, /) -> int:
        """
        Instructions, once for each thread.
        """
    @property
    def warp_instructions(self, /) -> int:
        """
        Instructions, once for all lanes of a warp that execute them together.
        """
    @property
    def warps(self, /) -> int:
        """
        Warps.
        """

@final
class Load:
    """
    A load in a file.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def control(self, /) -> Control | None:
        """
        How it is scheduled; `None` if the file does not say.
        """
    @property
    def function(self, /) -> str | None:
        """
        The function's name; `None` if the file does not say.
        """
    @property
    def image(self, /) -> int | None:
        """
        The number of the cubin in the file, from 1; `None` if the file is the cubin.
        """
    @property
    def instruction(self, /) -> Instruction | None:
        """
        The instruction; `None` if the word is illegal or unknown.
        """
    @property
    def offset(self, /) -> int | None:
        """
        In bytes from the beginning of the function.
        """
    @property
    def sm(self, /) -> str | None:
        """
        The SM; `None` if the file does not say.
        """
    @property
    def source(self, /) -> str | None:
        """
        The line of the source, `file:line`, if the cubin has line information.
        """
    @property
    def text(self, /) -> str | None:
        """
        The text as it is decoded or, without a word, as the file has it; `None` if the word is illegal.
        """
    @property
    def word(self, /) -> int | None:
        """
        The word; of a text without one, that of the text. `None` if the linker fills something in.
        """

@final
class Machine:
    """
    What a warp executes on: a memory, how many registers there are, and what misaligned addresses do:
    `force` rounds them down, `report` rounds them down and reports a fault.
    """
    def __new__(cls, /, memory: Memory, *, register_limit: SupportsIndex = 255, misaligned: Misaligned = ...) -> Machine: ...
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
    def misaligned(self, /) -> Misaligned:
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
    def __new__(cls, /, allocations: Contents | None = None, *, shared: ByteSource | None = None, local_low: ByteSource | None = None, local_high: ByteSource | None = None, constant: Contents | None = None, address_bits: SupportsIndex | None = None, shared_window: tuple[SupportsIndex, SupportsIndex] = ..., local_window: tuple[SupportsIndex, SupportsIndex] = ...) -> Memory: ...
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
    def destination(self, /) -> str | None:
        """
        The first register that was written, as `Instruction.destination` names it; `None` if values go to shared
        memory, or if no lane loads.
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
    def other_half(self, /) -> str | None:
        """
        Of 256 bits, the first of the registers of the last four words.
        """
    @property
    def registers(self, /) -> int:
        """
        How many registers were written, from `destination` on and from `other_half` on together.
        """
    @property
    def uniform(self, /) -> UniformPath | None:
        """
        The path of a `.U.128`: `broadcast` or `divergent`; `None` for other loads.
        """
    @property
    def warp_fault(self, /) -> WarpFault | None:
        """
        The fault that kept the whole warp from loading; `None` if there is none.
        """

@final
class PtxKernel:
    """
    A kernel, with the text of its module. `warpload.ptx.Kernel` converts arguments for it.
    """
    def __new__(cls, /, module: Any, name: str | None) -> PtxKernel: ...
    @property
    def file(self, /) -> str:
        """
        The file of the module, `<text>` if it was given as text.
        """
    def launch(self, /, grid: SupportsLenAndGetItem[SupportsIndex], block: SupportsLenAndGetItem[SupportsIndex], arguments: SupportsGetItem[int, Any], shared_bytes: SupportsIndex, steps: SupportsIndex | None, check_uninitialized: bool, check_races: bool) -> tuple[LaunchCounts, int, list[KernelFault], list[SkippedInstruction], list[int]]:
        """
        Launches the kernel. An argument is the bytes of its parameter, or a writeable array of bytes.
        """
    @property
    def name(self, /) -> str:
        """
        The kernel's name.
        """
    @property
    def parameters(self, /) -> list[KernelParameter]:
        """
        The parameters in order.
        """

@final
class Replayed:
    """
    What a replay found. `warpload.Replay` is what it is used through.
    """
    @staticmethod
    def from_json(json: bytes) -> Replayed:
        """
        Reads the JSON of a summary, of a whole replay or of shards.
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
    def per_pc_copies(self, /) -> Table:
        """
        The counts of each program counter of copies from global to shared memory.
        """
    def rows(self, /, **options: "Any") -> Table:
        """
        The counts of those program counters that are chosen, by `kernel`, `pc` and `opcode`.
        """
    def summary(self, /) -> "dict[str, Any]":
        """
        The summary as objects; of shards in the form of the whole.
        """
    def to_dict(self, /) -> "dict[str, Any]":
        """
        What is in that JSON, as objects.
        """
    def to_json(self, /) -> bytes:
        """
        What the command prints with `--format json`.
        """

@final
class SkippedInstruction:
    """
    An instruction that was met and is not executed: its results are unknown.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def count(self, /) -> int:
        """
        How often a warp met it.
        """
    @property
    def line(self, /) -> int:
        """
        The line in the module, from 1.
        """
    @property
    def text(self, /) -> str:
        """
        The instruction.
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
    def _repr_html_(self, /) -> "str":
        """
        The first rows as a table for a notebook: of program counters, those with the most sectors beyond the ideal.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """
    def select(self, /, *columns: "str") -> Table:
        """
        Returns the table with these columns alone, in this order.
        """
    def to_arrow(self, /) -> "Any":
        """
        Returns the table as a `pyarrow.Table`.
        """
    def to_pandas(self, /) -> "Any":
        """
        Returns the table as a `pandas.DataFrame`, through pyarrow.
        """
    def to_polars(self, /) -> "Any":
        """
        Returns the table as a `polars.DataFrame`.
        """

@final
class TensorLoaded:
    """
    What a load of Tensor Memory read.
    """
    @property
    def drawing(self, /) -> str:
        """
        What the command prints.
        """
    @property
    def instruction(self, /) -> str:
        """
        The instruction.
        """
    @property
    def loads(self, /) -> int:
        """
        The threads that load, bit n for thread n.
        """
    @property
    def reduced(self, /) -> NDArray[uint32] | None:
        """
        The 32 results of a reduction; `None` if there is none.
        """
    @property
    def registers(self, /) -> NDArray[uint32]:
        """
        The registers, `(n, 32)` of `uint32`: register by register, thread 0 first; 0 in a thread that does not load.
        """

@final
class TensorMap:
    """
    Which thread and register each cell of a load goes to.
    """
    def __new__(cls, /, shape: Any, repeat: SupportsIndex | None = None, *, pack: bool = False, sm: "str | SupportsIndex | None" = None) -> TensorMap:
        """
        `shape` is one of PTX, with its repeat, or, with `sm`, the word or text of an `LDTM`.
        """
    @property
    def cells(self, /) -> list[tuple[int, int, int, int, list[int]]]:
        """
        Each cell: the thread, the register, the half, the lane and the columns.
        """
    @property
    def drawing(self, /) -> str:
        """
        What the command prints.
        """
    @property
    def svg(self, /) -> str:
        """
        The picture.
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
    def contents(self, /) -> "dict[str, Any]":
        """
        The contents, as `warpload info --format json` prints them.
        """
    def loads(self, /, *, values: bool = False, threads: SupportsIndex = ..., **options: "Any") -> Table:
        """
        Returns the loads as a table, whose batches are made when they are asked for.
        """
    def replay(self, /, *, memory: Memory | None = None, shard: tuple[SupportsIndex, SupportsIndex] | None = None, page: bool = False, progress: Any | None = None, **options: "Any") -> Replayed:
        """
        Replays the loads.
        """

@final
class Vector:
    """
    A test vector: a load, a machine and a warp before it, and what is expected after it. Of its JSON on one line.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, json: str) -> Vector: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def check(self, /, executor: Executor = ...) -> list[str]:
        """
        Executes it, and returns how the outcome differs from the expected one, one line each; an empty list if it does not.
        """
    @property
    def flags(self, /) -> list[str]:
        """
        What it is a case of, as the literal executor finds: names of `flags`.
        """
    @property
    def instruction(self, /) -> Instruction:
        """
        The load.
        """
    @property
    def json(self, /) -> str:
        """
        The JSON, one line without its end (docs/vectors.md).
        """
    @property
    def machine(self, /) -> Machine:
        """
        What the warp executes on.
        """
    @property
    def name(self, /) -> str:
        """
        What it is about: most often the text of the instruction.
        """
    def to_dict(self, /) -> "dict[str, Any]":
        """
        Returns what is in the JSON, as objects.
        """
    @property
    def warp(self, /) -> Warp:
        """
        The warp before the load.
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
    def __new__(cls, /, registers: Numbers | None = None, *, predicates: Numbers | None = None, active: SupportsIndex = ..., uniform_registers: Numbers | None = None, uniform_predicates: SupportsIndex = 0) -> Warp: ...
    def __repr__(self, /) -> str: ...
    def __setitem__(self, register: SupportsIndex, values: Numbers, /) -> None:
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
    def predicates(self, /, masks: Numbers) -> None: ...
    @property
    def registers(self, /) -> NDArray[uint32]:
        """
        All registers, `(255, 32)` of `uint32`: a copy. Assigning `(n, 32)` sets R0 to Rn-1.
        """
    @registers.setter
    def registers(self, /, values: Numbers) -> None: ...
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
    def uniform_registers(self, /, values: Numbers) -> None: ...

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
    def kind(self, /) -> WarpFaultKind:
        """
        `misaligned_register` or `out_of_range_register`.
        """
    @property
    def register(self, /) -> str:
        """
        The register at fault.
        """

def check_ptx(module: Any, compile_only: bool) -> tuple[str, bool, list[tuple[str, int, int, bool, list[tuple[str, str, int, int, str | None]]]], str]:
    """
    Judges the loads of a module: its name, whether all is legal, the loads, and a drawing of what is wrong.
    """

def compare(a: Replayed, b: Replayed) -> "tuple[dict[str, Any], float | None]":
    """
    Compares two replays, program counter by program counter, and returns what `warpload compare` prints as JSON, as
    objects, and the change of the whole in percent.
    """

def conform(suite: Suite, examinee: Examinee, *, families: SupportsGetItem[int, Family] = ..., flags: SupportsGetItem[int, str] = ..., skip_decisions: bool = False, jobs: SupportsIndex | None = None, timeout: SupportsFloat | SupportsIndex | None = None, failures: SupportsIndex = 100) -> Conformance:
    """
    Checks an emulator against the conformance suite.

    Parameters
    ----------
    suite
        A file of cases, one JSON object a line, or a folder of them, or several.
    examinee
        The emulator: a function that is passed a question, a `dict`, and returns the answer, a `dict`, or `None` if it
        does not do this; a program with its arguments, as a list or as a text that is split as a shell does; or one of
        our own executors, `"fast"`, `"reference"`, or `"both"`, each of which must answer what is expected.
        docs/conformance.md has the questions and answers. A function that raises `NotImplementedError` skips the case;
        other exceptions are failures of the case.
    families
        Only cases of these families; of all if there are none.
    flags
        Only cases with one of these flags; all if there are none.
    skip_decisions
        Whether cases that no public source decides are skipped.
    jobs
        How many instances of a program, or threads of our own executors, are asked at the same time, 1 by default. A
        function is called by this thread alone.
    timeout
        How long a program may take for an answer, in seconds, 10 by default.
    failures
        How many failures the report has one by one.

    Raises
    ------
    Error
        If a file cannot be read or is not text (`kind` is `"input"`), a program cannot be started (`"system"`) or answers
        nothing (`"input"`), or no case is chosen (`"selection"`).
    """

def decode(word: "SupportsIndex", sm: "str | SupportsIndex" = ...) -> "Instruction | None":
    """
    Returns the load that a word is; `None` if it is another instruction.

    Words are of at most 64 bits before SM 7.0, and of 128 bits from there on.

    >>> warpload.decode(0x80d0000000070404)
    Instruction('LD.E.128 R4, [R4], P0', sm='50')
    """

def decode_array(words: WordArray, sm: "str | SupportsIndex" = ...) -> DecodedWords:
    """
    Decodes many words at once.

    `words` are an array of integers of 64 bits, `(n,)` before SM 7.0 and `(n, 2)` from there on, the low half first; or
    their bytes, little-endian.

    >>> import numpy
    >>> found = warpload.decode_array(numpy.array([0x80d0000000070404, 0], numpy.uint64))
    >>> found.kind.tolist(), found.opcodes, found[0]
    ([1, 0], ['LD.E.128'], Instruction('LD.E.128 R4, [R4], P0', sm='50'))
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

def explain(instruction: "SupportsIndex | str | Instruction", sm: "str | SupportsIndex" = ...) -> Explanation:
    """
    Explains a word, a text or an `Instruction`, which has its own SM.

    >>> print(warpload.explain(0x80d0000000070404).effect)
    Every active lane loads 16 bytes from address {R5, R4} (local or global memory where P0 is true, else shared memory) into R4..R7.
    """

def generate_vectors(instruction: str, sm: "str | SupportsIndex" = ..., *, count: SupportsIndex = 100, seed: SupportsIndex = 0, flags: SupportsGetItem[int, str] = ...) -> list[Vector]:
    """
    Draws fresh vectors of an instruction.

    The same instruction, SM, seed and flags make the same vectors on every platform, those that the command
    `warpload vectors generate` writes. A greater count appends vectors and does not change the first ones.

    Parameters
    ----------
    instruction
        The mnemonic, such as `"LDG"`.
    sm
        Whose instruction it is.
    count
        How many vectors are drawn.
    seed
        The seed.
    flags
        Only vectors that have all of these flags.

    Raises
    ------
    Error
        If the SM has no such load, or the load never shows a flag (`kind` is `"argument"`).
    """

def import_trace(source: str | PathLike[str], output: str | PathLike[str], *, compression: str = "zstd", threads: SupportsIndex | None = None) -> None:
    """
    Turns a trace of another tool into a binary trace, as `warpload import` does.
    """

def loads(path: str | PathLike[str], *, sm: "str | SupportsIndex | None" = None) -> list[Load]:
    """
    Returns every load of a cubin, of a listing, or of a file that holds cubins.

    `sm` chooses the cubins of that SM, or says whose code it is if the file does not.

    Of a file that holds several images, each one that cannot be read is a `UserWarning` if others can.
    """

def lower_ptx(module: Any, level: SupportsIndex) -> tuple[str, list[tuple[str, int, int, list[Instruction], str | None]]]:
    """
    Returns what the loads of a module become on SM 5.x, and its name.
    """

def merge(shards: SupportsGetItem[int, Replayed], *, partial: bool = False) -> Replayed:
    """
    Merges the summaries of shards: of all of them into that of the whole, or, if `partial`, of neighbours.
    """

def read_vectors(path: str | PathLike[str]) -> list[Vector]:
    """
    Reads the vectors of a file, one JSON object a line.

    Raises
    ------
    Error
        If a line is not a vector, with the line.
    """

def replay_arguments(**options: "Any") -> list[str]:
    """
    Returns the arguments of a command for options of a replay.
    """

def run(arguments: SupportsGetItem[int, str], *, stdout_is_closed: bool = False) -> tuple[int, bool]:
    """
    Runs the command in this process, with its streams, and returns the exit status, and whether the system refused
    something, which it may not the next time. The
    process does nothing else: its signals are the command's. `stdout_is_closed` says that its standard output was closed,
    and is something else by now.
    """

def run_ptx(module: Any, function: str | None, image: str | PathLike[str] | None, registers: SupportsGetItem[int, tuple[str, str]], parameters: SupportsGetItem[int, tuple[str, str]], places: SupportsGetItem[int, tuple[str, str]], active: SupportsIndex, tensor_memory: Any | None, warp: SupportsIndex, lane_mode: LaneMode) -> tuple[str, list[tuple[str, int, int, int, list[tuple[str, list[int | None]]], dict[str, int], dict[str, int], str | None, str | None]]]:
    """
    Executes the loads of a function.
    """

def run_tensor_load(instruction: Any, memory: Any, *, warp: SupportsIndex = 0, taddr: SupportsIndex = 0, sm: "str | SupportsIndex | None" = None, lane_mode: LaneMode = ..., hardware_alignment: bool = False) -> TensorLoaded:
    """
    Executes a load as PTX writes it or, with `sm`, an `LDTM`.
    """

def survive_forks() -> None:
    """
    Makes what is made on first use otherwise, by one thread while others wait for it: a child of this process that was
    forked meanwhile would wait forever.
    """

def vector_flags() -> list[Flag]:
    """
    Returns the flags that vectors have, by name.
    """

def vector_instructions(sm: "str | SupportsIndex" = ...) -> list[str]:
    """
    Returns the instructions of an SM that vectors are drawn of.
    """

def write_vectors(path: str | PathLike[str], vectors: SupportsGetItem[int, Vector]) -> None:
    """
    Writes vectors to a file, one JSON object a line. The file appears under its name when it is complete.
    """
