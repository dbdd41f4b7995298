"""
The native module. `warpload` exports and documents everything in it.
"""

from _typeshed import SupportsGetItem, SupportsLenAndGetItem
from numpy import int16, int32, int64, uint32, uint8
from numpy.typing import NDArray
from os import PathLike
from types import CapsuleType
from typing import Any, Final, SupportsFloat, SupportsIndex, final
from warpload._types import Address, ByteSource, Contents, Examinee, Executor, FailureKind, Family, InstructionSpace, KernelFaultKind, LaneFaultKind, LaneMode, LaneSpace, Misaligned, Numbers, Suite, UniformPath, WarpFaultKind, WordArray

__all__ = ["__version__", "CaseFailure", "Conformance", "Control", "DecodedWords", "Explanation", "Field", "Flag", "FlagCounts", "Instruction", "KernelFault", "KernelParameter", "LaneFault", "LaunchCounts", "Load", "Machine", "Memory", "Outcome", "PtxKernel", "Replayed", "SkippedInstruction", "Table", "TensorLoaded", "TensorMap", "Trace", "UnknownBytes", "Vector", "Warp", "WarpFault", "check_ptx", "compare", "conform", "decode", "decode_array", "encode", "execute", "explain", "generate_vectors", "import_trace", "loads", "lower_ptx", "merge", "read_vectors", "replay_arguments", "run", "run_ptx", "run_tensor_load", "survive_forks", "vector_flags", "vector_instructions", "write_vectors"]

__version__: Final[str]

@final
class CaseFailure:
    """
    A failed case: its answer differs from the expected one, or is missing.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def differences(self, /) -> list[str]:
        """
        The differences between the answer and the expected one, or other reasons for the failure, one line each.
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
        The flags: properties that the case tests.
        """
    @property
    def id(self, /) -> str | None:
        """
        The case's name in its suite; `None` if it has none.
        """
    @property
    def kind(self, /) -> FailureKind:
        """
        The kind of failure.
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
    The result of checking an emulator against a suite. True if no case failed and at least one passed.

    `str()` describes the failures' common properties; a notebook shows the flags that explain them.
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
        The failures' common properties, a sentence each.
        """
    @property
    def failed(self, /) -> int:
        """
        How many cases failed.
        """
    @property
    def failures(self, /) -> list[CaseFailure]:
        """
        The first failures, at most as many as `conform` was asked for.
        """
    @property
    def families(self, /) -> dict[Family, tuple[int, int, int]]:
        """
        For each family, the numbers of cases that passed, failed and were skipped.
        """
    @property
    def flags(self, /) -> list[FlagCounts]:
        """
        The flags; the best explanation of their family's failures comes first.
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
        Reasons for skipped cases, each with its number of cases.
        """

@final
class Control:
    """
    The scheduling of an instruction.
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
        The barrier that is set when the operands are read; `None` if there is none.
        """
    @property
    def reuse(self, /) -> int:
        """
        The operands that stay in the reuse cache.
        """
    @property
    def stall(self, /) -> int:
        """
        Cycles to wait after the instruction.
        """
    @property
    def wait_mask(self, /) -> int:
        """
        The barriers to wait for, bit n for barrier n.
        """
    @property
    def write_barrier(self, /) -> int | None:
        """
        The barrier that is set when the results are written; `None` if there is none.
        """
    @property
    def yields(self, /) -> bool:
        """
        Whether another warp may issue first.
        """

@final
class DecodedWords:
    """
    The results of decoding words, one element a word.

    `opcodes` lists the distinct opcodes. `opcode` has each word's index into it.
    """
    def __getitem__(self, index: SupportsIndex, /) -> Instruction | None:
        """
        The load at an index; `None` if the word is not a load.
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
        The kind of each word: 0 another instruction, 1 a load, 2 an illegal load.
        """
    @property
    def offset(self, /) -> NDArray[int64]:
        """
        The offset of the address in bytes.
        """
    @property
    def opcode(self, /) -> NDArray[int32]:
        """
        The index of each word's opcode in `opcodes`; -1 if the word is not a load.
        """
    @property
    def opcodes(self, /) -> list[str]:
        """
        The opcodes with their modifiers, each once.
        """
    @property
    def size(self, /) -> NDArray[uint8]:
        """
        The size of a lane's access in bytes; 0 if the load cannot be executed.
        """

@final
class Explanation:
    """
    The meaning of every bit of a word, and the effect of executing it.

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
        The meaning of the number.
        """
    @property
    def name(self, /) -> str:
        """
        The field's name.
        """
    @property
    def purpose(self, /) -> str:
        """
        The field's purpose.
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
        Whether, on SM 5.x and 6.x, the expectation of such vectors is our decision, because no public source decides
        it.
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
        The flag's meaning, and the clause of the documents.
        """

@final
class FlagCounts:
    """
    Outcomes of the cases that have one flag.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def explains(self, /) -> float:
        """
        How well the flag separates failed cases from passed ones, 0 to 1.
        """
    @property
    def failed(self, /) -> int:
        """
        The number of cases that failed.
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
        The number of cases that passed.
        """
    @property
    def skipped(self, /) -> int:
        """
        The number of cases that were skipped.
        """

@final
class Instruction:
    """
    A load instruction, made from its text or its word: `Instruction('LD.E.128 R4, [R4], P0', sm='50')`.
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
        The first register that is written; `None` if values go to shared memory or are discarded (`RZ`).
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
        The predicate that makes a generic address local or global (true) or shared (false); `None` if there is none.
        """
    @property
    def registers(self, /) -> int | None:
        """
        The number of registers that are written; `None` if the instruction cannot be executed.
        """
    @property
    def size(self, /) -> int | None:
        """
        The size of a lane's access in bytes; `None` if the instruction cannot be executed.
        """
    @property
    def sm(self, /) -> str:
        """
        The word's SM: `90a`.
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
    A fault of a thread. The launch continued, except for threads that could not.
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
        The number, from 0, of the array argument nearest to an out-of-bounds address; `None` if there is none, or
        another memory is nearer.
        """
    @property
    def block(self, /) -> tuple[int, int, int]:
        """
        The block's index, x first.
        """
    @property
    def distance(self, /) -> int | None:
        """
        The distance of an out-of-bounds address from the nearest memory, in bytes: from its end if positive; to its
        beginning, or for an access that begins inside, to its end, if negative. `None` for other faults.
        """
    @property
    def function(self, /) -> str:
        """
        The function that contains the instruction.
        """
    @property
    def instruction(self, /) -> str:
        """
        The instruction.
        """
    @property
    def kind(self, /) -> KernelFaultKind:
        """
        The kind of fault.
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
        A description of the fault.
        """
    @property
    def source_file(self, /) -> str | None:
        """
        The file of the source that `.loc` and `.file` name; `None` if the module does not name one.
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
    A parameter of a kernel, or a variable of its module.
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
        The error that the hardware reports.
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
        The memory that contains the rounded address; `None` if the lane cannot access it.
        """

@final
class LaunchCounts:
    """
    The numbers of blocks, warps and instructions that a launch executed.
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
        Loads among the warp instructions, including loads of parameters.
        """
    @property
    def stores(self, /) -> int:
        """
        Stores among the warp instructions.
        """
    @property
    def thread_instructions(self, /) -> int:
        """
        Instructions, counted once for each thread.
        """
    @property
    def warp_instructions(self, /) -> int:
        """
        Instructions, counted once for all lanes of a warp that execute them together.
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
        The scheduling; `None` if the file does not say.
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
        The offset in bytes from the beginning of the function.
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
        The text, decoded from the word or, without a word, as the file has it; `None` if the word is illegal.
        """
    @property
    def word(self, /) -> int | None:
        """
        The word. If the file has only text, the word that it assembles to. `None` if the linker fills in a part.
        """

@final
class Machine:
    """
    A memory, the number of registers, and the treatment of misaligned addresses: `force` rounds them down, `report`
    rounds them down and reports a fault.
    """
    def __new__(cls, /, memory: Memory, *, register_limit: SupportsIndex = 255, misaligned: Misaligned = ...) -> Machine: ...
    def __repr__(self, /) -> str: ...
    def execute(self, /, instruction: "Instruction | str", warp: Warp, *, reference: bool = False) -> Outcome:
        """
        Executes an instruction, or the text of an SM 5.x instruction: see :func:`execute`.
        """
    @property
    def memory(self, /) -> Memory:
        """
        The memory that loads read.
        """
    @property
    def misaligned(self, /) -> Misaligned:
        """
        The treatment of misaligned addresses.
        """
    @staticmethod
    def open(manifest: str | PathLike[str], *, mmap: bool = False) -> Machine:
        """
        Opens the machine that the manifest of a memory image describes.

        If one file holds all bytes, `mmap` maps it instead of reading it. The file must not change while the machine's
        memory is in use: if it becomes shorter, a signal ends the process.
        """
    @property
    def register_limit(self, /) -> int:
        """
        The number of registers.
        """

@final
class Memory:
    """
    All memory of a machine. Immutable.

    `allocations` are global memory: bytes by first address. Local memory is the bytes of all 32 lanes, lane 0's first.
    Addresses have 40 bits, and 49 for instructions of SM 7.0 and later, unless `address_bits` says otherwise.

    Bytes of one read-only object, `bytes` or a read-only `mmap.mmap` or views of it, are borrowed; all other bytes are
    copied.
    """
    def __len__(self, /) -> int:
        """
        The number of bytes in all.
        """
    def __new__(cls, /, allocations: Contents | None = None, *, shared: ByteSource | None = None, local_low: ByteSource | None = None, local_high: ByteSource | None = None, constant: Contents | None = None, address_bits: SupportsIndex | None = None, shared_window: tuple[SupportsIndex, SupportsIndex] = ..., local_window: tuple[SupportsIndex, SupportsIndex] = ...) -> Memory: ...
    def __repr__(self, /) -> str: ...
    @property
    def address_bits(self, /) -> int | None:
        """
        The number of address bits; ``None`` if the SM of the executed instruction decides: 40, or 49 from SM 7.0 on.
        """
    @property
    def allocations(self, /) -> list[tuple[int, int]]:
        """
        The first address and the size of each global allocation, ascending.
        """
    @property
    def is_borrowed(self, /) -> bool:
        """
        Whether the bytes are borrowed from the object that was given, rather than copied.
        """

@final
class Outcome:
    """
    The outcome of executing a load, except for the values, which are in the warp.
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
        For 256-bit loads, the first register of the last four words.
        """
    @property
    def registers(self, /) -> int:
        """
        The number of registers that were written, from `destination` on and from `other_half` on together.
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
    def launch(self, /, grid: SupportsLenAndGetItem[SupportsIndex], block: SupportsLenAndGetItem[SupportsIndex], only_block: SupportsLenAndGetItem[SupportsIndex] | None, arguments: SupportsGetItem[int, Any], variables: SupportsGetItem[int, tuple[str, SupportsGetItem[int, SupportsIndex]]], shared_bytes: SupportsIndex, steps: SupportsIndex | None, check: bool, check_uninitialized: bool, check_races: bool, trace: bool, dump_unknown: bool) -> tuple[LaunchCounts, int, str, list[KernelFault], list[SkippedInstruction], list[UnknownBytes], list[tuple[str, bytes, str | None]], bytes, Replayed, Trace | None]:
        """
        Launches the kernel. An argument is the bytes of a parameter, or a writeable array of bytes.
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
    @property
    def variables(self, /) -> list[KernelParameter]:
        """
        The variables of the module in global and constant memory.
        """

@final
class Replayed:
    """
    The result of a replay. `warpload.Replay` is its public face.
    """
    @staticmethod
    def from_json(json: bytes) -> Replayed:
        """
        Reads the JSON of a summary, of a whole replay or of shards.
        """
    @property
    def messages(self, /) -> list[str]:
        """
        Notes for the user.
        """
    def page(self, /, *, by_launch: bool = False) -> str:
        """
        The page for a browser. With `by_launch`, launches of one kernel are not added up.
        """
    @property
    def rows(self, /) -> Table:
        """
        The rows: the counts of each instruction of each launch.
        """
    def to_dict(self, /) -> "dict[str, Any]":
        """
        The same JSON as objects.
        """
    def to_json(self, /) -> bytes:
        """
        The JSON that the command prints with `--format json`.
        """
    @staticmethod
    def write_page(page: str, path: str | PathLike[str]) -> None:
        """
        Writes a page to a file, which appears under its name when it is complete.
        """

@final
class SkippedInstruction:
    """
    An instruction that was reached but is not supported. It was skipped, so its results are unknown.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    @property
    def count(self, /) -> int:
        """
        How many times a warp reached it.
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
    A table that dataframe libraries can read: `polars.DataFrame(table)`, `pyarrow.table(table)`.

    Batches of a trace's accesses are made on demand, to avoid holding them all in memory. Errors in the trace show up
    at that time.
    """
    def __arrow_c_schema__(self, /) -> CapsuleType:
        """
        Exports the columns as a schema of the Arrow C data interface.
        """
    def __arrow_c_stream__(self, /, requested_schema: "object | None" = None) -> CapsuleType:
        """
        Exports the table as a new stream of the Arrow C data interface.
        """
    def __len__(self, /) -> int: ...
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> "str":
        """
        The first rows as a table for a notebook; of the rows of a replay, those with the most sectors beyond the ideal.
        """
    @property
    def columns(self, /) -> list[str]:
        """
        The names of the columns.
        """
    def select(self, /, *columns: "str") -> Table:
        """
        Selects columns, in this order.
        """
    def to_arrow(self, /) -> "Any":
        """
        Converts the table to a `pyarrow.Table`.
        """
    def to_pandas(self, /) -> "Any":
        """
        Converts the table to a `pandas.DataFrame`, through pyarrow.
        """
    def to_polars(self, /) -> "Any":
        """
        Converts the table to a `polars.DataFrame`.
        """

@final
class TensorLoaded:
    """
    The result of a Tensor Memory load.
    """
    @property
    def drawing(self, /) -> str:
        """
        The text that the command prints.
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
    The thread and register that each cell of a load goes to.
    """
    def __new__(cls, /, shape: Any, repeat: SupportsIndex | None = None, *, pack: bool = False, sm: "str | SupportsIndex | None" = None) -> TensorMap:
        """
        `shape` is a PTX shape, with its repeat, or, with `sm`, the word or text of an `LDTM`.
        """
    @property
    def cells(self, /) -> list[tuple[int, int, int, int, list[int]]]:
        """
        Each cell: the thread, the register, the half, the lane and the columns.
        """
    @property
    def drawing(self, /) -> str:
        """
        The text that the command prints.
        """
    @property
    def svg(self, /) -> str:
        """
        The picture.
        """

@final
class Trace:
    """
    An open trace. `warpload.Trace` is its public face.
    """
    def __len__(self, /) -> int:
        """
        The number of accesses.
        """
    def __new__(cls, /, path: str | PathLike[str], *, threads: SupportsIndex | None = None, mmap: bool = False) -> Trace:
        """
        Opens a trace. A text trace is imported.
        """
    def accesses(self, /, *, values: bool = False, threads: SupportsIndex = ..., **options: "Any") -> Table:
        """
        The accesses as a table. Its batches are made on demand.
        """
    def contents(self, /) -> "dict[str, Any]":
        """
        The contents, as `warpload show --format json` prints them.
        """
    def replay(self, /, *, memory: Memory | None = None, shard: tuple[SupportsIndex, SupportsIndex] | None = None, progress: Any | None = None, **options: "Any") -> Replayed:
        """
        Replays the accesses.
        """

@final
class UnknownBytes:
    """
    The bytes of an array or of a variable that a launch left unknown.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def argument(self, /) -> int | None:
        """
        The number of the array's argument, from 0; `None` for a variable of the module.
        """
    @property
    def bytes(self, /) -> int:
        """
        The number of unknown bytes.
        """
    @property
    def cause(self, /) -> str:
        """
        The reason: an instruction that was not executed, or a register that was never written.
        """
    @property
    def first(self, /) -> int:
        """
        The offset of the first one.
        """
    @property
    def name(self, /) -> str:
        """
        The name of the parameter or of the variable.
        """

@final
class Vector:
    """
    A test vector: a load, a machine and a warp before it, and the expected outcome. Made from its JSON on one line.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, json: str) -> Vector: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def check(self, /, executor: Executor = ...) -> list[str]:
        """
        Executes the vector, and returns the differences from the expected outcome, one line each; an empty list if it
        passes.
        """
    @property
    def flags(self, /) -> list[str]:
        """
        The flags that the literal executor finds in it: names of `flags`.
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
        The machine that the load executes on.
        """
    @property
    def name(self, /) -> str:
        """
        A name, most often the text of the instruction.
        """
    def to_dict(self, /) -> "dict[str, Any]":
        """
        The contents of the JSON, as objects.
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

    `registers` are rows of 32 values from R0 on, `(n, 32)`; the rest are 0. `predicates` are masks from P0 on, bit n
    for lane n.
    """
    def __eq__(self, other: object, /) -> bool: ...
    def __getitem__(self, register: SupportsIndex, /) -> NDArray[uint32]:
        """
        The 32 values of a register: a copy.
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
        Copies the warp.
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
        The error that the hardware reports.
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
    Checks the loads of a module. Returns its name, whether all is legal, the loads, and a drawing of the errors.
    """

def compare(a: Replayed, b: Replayed) -> "tuple[dict[str, Any], float | None]":
    """
    Compares two replays, instruction by instruction. Returns the JSON of `warpload compare` as objects, and the
    change of the whole in percent.
    """

def conform(suite: Suite, examinee: Examinee, *, families: SupportsGetItem[int, Family] = ..., flags: SupportsGetItem[int, str] = ..., skip_decisions: bool = False, jobs: SupportsIndex | None = None, timeout: SupportsFloat | SupportsIndex | None = None, failures: SupportsIndex = 100) -> Conformance:
    """
    Checks an emulator against the conformance suite.

    Parameters
    ----------
    suite
        A file of cases, one JSON object a line, or a folder of them, or several.
    examinee
        The emulator: a function that takes a question, a `dict`, and returns the answer, a `dict`, or `None` for
        unsupported questions; a program with its arguments, as a list or as a text that is split as a shell does; or
        one of our own executors, `"fast"`, `"reference"`, or `"both"`, both of which must give the expected answer.
        docs/conformance.md has the questions and answers. If a function raises `NotImplementedError`, the case is
        skipped; any other exception fails the case.
    families
        Only cases of these families; of all families if empty.
    flags
        Only cases with one of these flags; all cases if empty.
    skip_decisions
        Whether to skip cases that no public source decides.
    jobs
        How many instances of a program, or threads of our own executors, to ask at the same time, 1 by default. A
        function is called on the current thread alone.
    timeout
        The longest time that a program may take for an answer, in seconds, 10 by default.
    failures
        The most failures that the report lists one by one.

    Raises
    ------
    Error
        If a file cannot be read or is not text (`kind` is `"input"`), a program cannot be started (`"system"`) or does
        not answer (`"input"`), or no case is chosen (`"selection"`).
    """

def decode(word: "SupportsIndex", sm: "str | SupportsIndex" = ...) -> "Instruction | None":
    """
    Decodes a word into a load; `None` if the word is another instruction.

    Words have at most 64 bits before SM 7.0, and 128 bits from there on.

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
    Assembles the text of a load, and returns its word.

    >>> hex(warpload.encode("LD.E.128 R4, [R4], P0"))
    '0x80d0000000070404'
    """

def execute(instruction: "Instruction | str", machine: Machine, warp: Warp, *, reference: bool = False) -> Outcome:
    """
    Executes a load: changes the registers of `warp`, and returns the outcome. `reference` selects the literal executor
    instead of the fast one.
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

    The same instruction, SM, seed and flags make the same vectors on every platform, and the same as the command
    `warpload vectors generate`. A greater count appends vectors and does not change the first ones.

    Parameters
    ----------
    instruction
        The mnemonic, such as `"LDG"`.
    sm
        The instruction's SM.
    count
        The number of vectors.
    seed
        The seed.
    flags
        Only vectors that have all of these flags.

    Raises
    ------
    Error
        If the SM has no such load, or no vector with the flags is found (`kind` is `"argument"`).
    """

def import_trace(source: str | PathLike[str], output: str | PathLike[str], *, compression: str = "zstd", threads: SupportsIndex | None = None) -> None:
    """
    Turns a trace of another tool into a binary trace, as `warpload import` does.
    """

def loads(path: str | PathLike[str], *, sm: "str | SupportsIndex | None" = None) -> list[Load]:
    """
    Reads every load of a cubin, of a listing, or of a file that contains cubins.

    `sm` chooses the cubins of that SM, or names the SM if the file does not.

    In a file of several images, each one that cannot be read causes a `UserWarning` if others can.
    """

def lower_ptx(module: Any, level: SupportsIndex) -> tuple[str, list[tuple[str, int, int, list[Instruction], str | None]]]:
    """
    Lowers the loads of a module to SM 5.x. Returns the module's name too.
    """

def merge(replays: SupportsGetItem[int, Replayed]) -> Replayed:
    """
    Adds summaries: the shards of a replay to the whole, and whole replays to one of all their launches.
    """

def read_vectors(path: str | PathLike[str]) -> list[Vector]:
    """
    Reads the vectors of a file, one JSON object a line.

    Raises
    ------
    Error
        If a line is not a vector. The error has the line.
    """

def replay_arguments(**options: "Any") -> list[str]:
    """
    Converts options of a replay to arguments of the command.
    """

def run(arguments: SupportsGetItem[int, str], *, stdout_is_closed: bool = False) -> tuple[int, bool]:
    """
    Runs the command in this process, on its standard streams. Returns the exit status, and whether the system refused
    something that it may allow on the next try.

    The process should do nothing else, because the command installs its own signal handlers. `stdout_is_closed` tells
    the command that standard output was closed and its descriptor is something else by now.
    """

def run_ptx(module: Any, function: str | None, image: str | PathLike[str] | None, registers: SupportsGetItem[int, tuple[str, str]], parameters: SupportsGetItem[int, tuple[str, str]], places: SupportsGetItem[int, tuple[str, str]], active: SupportsIndex, tensor_memory: Any | None, warp: SupportsIndex, lane_mode: LaneMode) -> tuple[str, list[tuple[str, int, int, int, list[tuple[str, list[int | None]]], dict[str, int], dict[str, int], str | None, str | None]]]:
    """
    Executes the loads of a function.
    """

def run_tensor_load(instruction: Any, memory: Any, *, warp: SupportsIndex = 0, taddr: SupportsIndex = 0, sm: "str | SupportsIndex | None" = None, lane_mode: LaneMode = ..., hardware_alignment: bool = False) -> TensorLoaded:
    """
    Executes a load in PTX syntax or, with `sm`, an `LDTM`.
    """

def survive_forks() -> None:
    """
    Initializes everything that is otherwise initialized on first use. One thread would do that while others wait for
    it, and a child process forked in the meantime would wait forever.
    """

def vector_flags() -> list[Flag]:
    """
    The flags that vectors can have, by name.
    """

def vector_instructions(sm: "str | SupportsIndex" = ...) -> list[str]:
    """
    The instructions of an SM that vectors can be drawn for.
    """

def write_vectors(path: str | PathLike[str], vectors: SupportsGetItem[int, Vector]) -> None:
    """
    Writes vectors to a file, one JSON object a line. The file appears under its name when it is complete.
    """
