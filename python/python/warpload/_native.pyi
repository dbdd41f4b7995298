"""
The native module. `warpload` exports and documents everything in it.
"""

from _typeshed import SupportsGetItem, SupportsLenAndGetItem
from collections.abc import Iterator
from numpy import int16, int32, int64, uint32, uint64, uint8
from numpy.typing import NDArray
from os import PathLike
from types import CapsuleType
from typing import Any, Final, SupportsFloat, SupportsIndex, final
from typing_extensions import disjoint_base
from warpload._kernel import Globals, Kernel
from warpload._summary import Summary
from warpload._trace import Trace as Trace2
from warpload._types import ByteSource, Contents, Dictionary, Examinee, Executor, FailureKind, Family, InstructionSpace, KernelFaultKind, KernelSource, LaneFaultKind, LaneMode, LaneSpace, Misaligned, NamedValues, Numbers, PtxModule, Replays, Suite, SummaryJson, TensorContents, UniformPath, WarpFaultKind, WordArray

__all__ = ["__version__", "Address", "CaseFailure", "Cell", "Check", "CheckedLoad", "Comparison", "Conformance", "Control", "DecodedWords", "Explanation", "Field", "Flag", "FlagCounts", "Instruction", "KernelFault", "KernelParameter", "LaneFault", "Launch", "LaunchCounts", "Load", "Loaded", "LoweredLoad", "Machine", "Map", "Memory", "Module", "Outcome", "PtxKernel", "RanLoad", "Replay", "SkippedInstruction", "Table", "Trace", "UnknownBytes", "Vector", "Violation", "Warp", "WarpFault", "check_ptx", "compare", "conform", "decode", "decode_array", "decode_file", "encode", "execute", "explain", "generate_vectors", "import_", "lower_ptx", "merge", "read_vectors", "replay_arguments", "run", "run_ptx", "run_tensor_load", "survive_forks", "tensor_map", "vector_flags", "vector_instructions", "write_vectors"]

__version__: Final[str]

@final
class Address:
    """
    The address operand of a load.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, base: str | None, offset: SupportsIndex) -> Address: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    @property
    def base(self, /) -> str | None:
        """
        The base register; `None` if the offset is the address.
        """
    @property
    def offset(self, /) -> int:
        """
        The offset in bytes.
        """

@final
class CaseFailure:
    """
    A failed case: its answer differs from the expected one, or is missing.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
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
class Cell:
    """
    The source of a thread's register.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, thread: SupportsIndex, register: SupportsIndex, half: SupportsIndex, lane: SupportsIndex, columns: SupportsGetItem[int, SupportsIndex]) -> Cell: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    @property
    def columns(self, /) -> list[int]:
        """
        The columns: two if it packs them, else one.
        """
    @property
    def half(self, /) -> int:
        """
        1 in the second half of a `.16x32bx2`, else 0.
        """
    @property
    def lane(self, /) -> int:
        """
        The lane of Tensor Memory.
        """
    @property
    def register(self, /) -> int:
        """
        The register, from 0.
        """
    @property
    def thread(self, /) -> int:
        """
        The thread, 0 to 31.
        """

@final
class Check:
    """
    The loads of a module, as a sequence. True if all are legal.
    """
    def __bool__(self, /) -> bool: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __getitem__(self, index: SupportsIndex, /) -> CheckedLoad: ...
    def __hash__(self, /) -> int: ...
    def __iter__(self, /) -> Iterator[CheckedLoad]: ...
    def __len__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, file: str, accept: bool, results: SupportsGetItem[int, CheckedLoad], drawing: str) -> Check: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def accept(self, /) -> bool:
        """
        Whether all are legal.
        """
    @property
    def drawing(self, /) -> str:
        """
        The errors, as the command draws them.
        """
    @property
    def file(self, /) -> str:
        """
        The file of the module, `<text>` if it was given as text.
        """
    @property
    def results(self, /) -> list[CheckedLoad]:
        """
        The loads, in the order of the text.
        """

@final
class CheckedLoad:
    """
    A load, and the rules that it breaks.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, text: str, line: SupportsIndex, column: SupportsIndex, accept: bool, violations: SupportsGetItem[int, Violation]) -> CheckedLoad: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    @property
    def accept(self, /) -> bool:
        """
        Whether it is legal.
        """
    @property
    def column(self, /) -> int:
        """
        The column, in characters, from 1.
        """
    @property
    def line(self, /) -> int:
        """
        The line in the module, from 1.
        """
    @property
    def text(self, /) -> str:
        """
        The load.
        """
    @property
    def violations(self, /) -> list[Violation]:
        """
        The rules that it breaks.
        """

@final
class Comparison:
    """
    The changes between two replays, the largest first.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, details: "dict[str, Any]") -> Comparison: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    @property
    def change(self, /) -> float | None:
        """
        The change of sectors, wavefronts and addresses together in percent; `None` if the first has none and the second
        some, or if it is not known.
        """
    @property
    def details(self, /) -> Dictionary:
        """
        The JSON of `warpload compare --format json` as a dictionary.
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
    def register_count(self, /) -> int | None:
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
        The number, from 0, of the array argument that has the address, or is nearest to an out-of-bounds one; `None` if
        there is none, or another memory is nearer.
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
    def offset(self, /) -> int | None:
        """
        The distance of the address from the beginning of the argument's array, of the variable, or of dynamic shared
        memory; `None` for faults without an address, and for those out of bounds.
        """
    @property
    def other_line(self, /) -> int | None:
        """
        The line of the other instruction of a race, or of the last one that changed what threads wait for; `None` for
        other faults.
        """
    @property
    def report(self, /) -> str:
        """
        The text of `str()`: the place, what is wrong, and who executed the instruction.
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
    @property
    def variable(self, /) -> str | None:
        """
        The variable of the module or of shared memory that has the address; `None` if none has.
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
class Launch:
    """
    The result of a launch, apart from the arrays, which it has changed.

    `str()` has the counts, the skipped instructions, the unknown bytes, and the first four faults of each instruction.
    """
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @property
    def counts(self, /) -> LaunchCounts:
        """
        The numbers of blocks, warps and instructions that were executed.
        """
    @property
    def fault_count(self, /) -> int:
        """
        The number of faults.
        """
    @property
    def faults(self, /) -> list[KernelFault]:
        """
        The first faults in the order in which they happened, at most 20 of each kind at each instruction.
        """
    @property
    def globals(self, /) -> Globals:
        """
        The variables of the module after the launch.
        """
    @property
    def kernel(self, /) -> str:
        """
        The name of the kernel.
        """
    @property
    def ok(self, /) -> bool:
        """
        Whether there was no fault, every instruction was executed, and every byte of the arrays is known.
        """
    @property
    def only_block(self, /) -> tuple[int, int, int] | None:
        """
        The index of the only block that was run; `None` if all of the grid were.
        """
    @property
    def printed(self, /) -> str:
        """
        The text that `printf` has printed; its first MiB.
        """
    def raise_for_faults(self, /) -> None:
        """
        Raises an error if the launch is not `ok`.

        Raises
        ------
        Error
            Of the kind `"fault"`. Its message is `str()` of the launch, and its line is the first fault's, or else that
            of the first instruction that was not executed.
        """
    @property
    def replay(self, /) -> Replay:
        """
        Sectors, bank conflicts and other counts of each instruction, except for loads of parameters.
        `launch.replay.rows` is a table, and `launch.replay.html("page.html")` writes a page.
        """
    @property
    def report(self, /) -> str:
        """
        The text of `str()`.
        """
    @property
    def skipped(self, /) -> list[SkippedInstruction]:
        """
        The instructions that were skipped because they are not supported, such as texture instructions, in the order of
        the text.
        """
    @property
    def trace(self, /) -> Trace2 | None:
        """
        The accesses that `replay` counts, with their values; `None` unless the launch had `trace=True`. Its program
        counters are places in the module's text, in bytes.
        """
    @property
    def unknown(self, /) -> list[UnknownBytes]:
        """
        The arrays and variables with unknown bytes, which depend on a skipped instruction or on an uninitialized
        register. Such an array is unchanged as a whole, unless the launch had `dump_unknown=True`.
        """
    @property
    def verdict(self, /) -> str:
        """
        The findings in a line: faults by kind, or else what was not checked, and what is not known.
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
class Loaded:
    """
    The registers of the 32 threads after a load from Tensor Memory.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, instruction: str, registers: SupportsGetItem[int, SupportsLenAndGetItem[SupportsIndex]], executing: SupportsIndex, reduced: SupportsLenAndGetItem[SupportsIndex] | None, drawing: str) -> Loaded: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def drawing(self, /) -> str:
        """
        The text that the command prints.
        """
    @property
    def executing(self, /) -> int:
        """
        The threads that load, bit n for thread n.
        """
    @property
    def instruction(self, /) -> str:
        """
        The instruction.
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
class LoweredLoad:
    """
    A load, lowered to SM 5.x.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, text: str, line: SupportsIndex, column: SupportsIndex, sass: SupportsGetItem[int, Instruction], error: str | None) -> LoweredLoad: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def column(self, /) -> int:
        """
        The column, in characters, from 1.
        """
    @property
    def error(self, /) -> str | None:
        """
        The reason if an instruction is missing.
        """
    @property
    def line(self, /) -> int:
        """
        The line in the module, from 1.
        """
    @property
    def sass(self, /) -> list[Instruction]:
        """
        The instructions; empty if the load becomes a constant operand of another instruction.
        """
    @property
    def text(self, /) -> str:
        """
        The load.
        """

@final
class Machine:
    """
    A memory, the number of registers, and the treatment of misaligned addresses: `force` rounds them down, `report`
    rounds them down and reports a fault, `fault` reports it and loads zeroes, as GPUs do.
    """
    def __new__(cls, /, memory: Memory, *, register_limit: SupportsIndex = 255, misaligned: Misaligned = ...) -> Machine: ...
    def __repr__(self, /) -> str: ...
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
class Map:
    """
    The thread and register that each cell of a load goes to.

    `str()` is the drawing that the command prints; a notebook shows a picture.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __iter__(self, /) -> Iterator[Cell]: ...
    def __len__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    def _repr_svg_(self, /) -> str: ...
    @property
    def cells(self, /) -> list[Cell]:
        """
        The cells, thread by thread. The map is iterable, too.
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
class Module:
    """
    A module of PTX, to launch its kernels several times.

    It is read once, and a kernel is compiled at its first launch. The variables of the module, `__device__` and
    `__constant__` ones of CUDA, keep their values from launch to launch, and all kernels of the module share them.
    Memory that kernels have allocated with `malloc` stays, too. A launch that is interrupted, or reaches its limit of
    steps, leaves its stores until then in the variables; one that is refused changes none.

    Launches of one module from several threads follow each other; those of different modules run at the same time.

    Parameters
    ----------
    module
        A path, or the text.

    Raises
    ------
    Error
        If it is not a module (the `kind` is `"syntax"`), or memory has no room for its variables (`"argument"`).
    """
    def __new__(cls, /, module: PtxModule) -> Module: ...
    def __repr__(self, /) -> str: ...
    @property
    def file(self, /) -> str:
        """
        The file, `<text>` if the module was given as text.
        """
    @property
    def globals(self, /) -> list[KernelParameter]:
        """
        The `.global` and `.const` variables, each with its name, type and size in bytes.
        """
    def kernel(self, /, name: str | None = None) -> Kernel:
        """
        A kernel of the module.

        Parameters
        ----------
        name
            The kernel's name, mangled if the module has it so; may be left out if the module has only one kernel.

        Raises
        ------
        Error
            If the module has no such kernel.
        """
    @property
    def kernels(self, /) -> list[str]:
        """
        The names of the kernels, in the order of the text.
        """
    def reset(self, /) -> None:
        """
        Gives all variables their initial values. Memory that kernels have allocated with `malloc` stays.
        """

@final
class Outcome:
    """
    The outcome of executing a load, except for the values, which are in the warp.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
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
    def register_count(self, /) -> int:
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

@disjoint_base
class PtxKernel:
    """
    A kernel of a module. `warpload.ptx.Kernel` converts arguments for it.
    """
    def __new__(cls, /, module: KernelSource, name: str | None = None) -> PtxKernel: ...
    def _launch(self, /, grid: SupportsLenAndGetItem[SupportsIndex], block: SupportsLenAndGetItem[SupportsIndex], only_block: SupportsLenAndGetItem[SupportsIndex] | None, arguments: SupportsGetItem[int, Any], variables: SupportsGetItem[int, tuple[str, SupportsGetItem[int, SupportsIndex]]], shared_bytes: SupportsIndex, steps: SupportsIndex | None, allow_illegal: bool, check: str, trace: bool, dump_unknown: bool) -> Launch:
        """
        Launches the kernel. An argument is the bytes of a parameter, or a writeable array of bytes.
        """
    @property
    def file(self, /) -> str:
        """
        The file of the module, `<text>` if it was given as text.
        """
    @property
    def globals(self, /) -> list[KernelParameter]:
        """
        The `.global` and `.const` variables of the module, each with its name, type and size in bytes.
        """
    @property
    def module(self, /) -> Module:
        """
        The module. All of its kernels share its variables.
        """
    @property
    def name(self, /) -> str:
        """
        The kernel's name.
        """
    @property
    def parameters(self, /) -> list[KernelParameter]:
        """
        The parameters in order, each with its name, type and size in bytes.
        """

@final
class RanLoad:
    """
    A load, and the outcome of executing it.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, text: str, line: SupportsIndex, column: SupportsIndex, executing: SupportsIndex, registers: dict[str, SupportsGetItem[int, SupportsIndex | None]], lane_faults: dict[str, SupportsIndex], undefined: dict[str, SupportsIndex], tensor_fault: str | None, error: str | None) -> RanLoad: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def array(self, /, register: str) -> NDArray[uint64]:
        """
        A register's 32 values as an array of `uint64`, 0 in a lane without one.
        """
    @property
    def column(self, /) -> int:
        """
        The column, in characters, from 1.
        """
    @property
    def error(self, /) -> str | None:
        """
        The reason if it was not executed.
        """
    @property
    def executing(self, /) -> int:
        """
        The lanes that executed, bit n for lane n.
        """
    @property
    def lane_faults(self, /) -> dict[str, int]:
        """
        The lanes with a fault, by its kind.
        """
    @property
    def line(self, /) -> int:
        """
        The line in the module, from 1.
        """
    @property
    def registers(self, /) -> dict[str, list[int | None]]:
        """
        The 32 values of each register that was written, `None` in a lane without a value.
        """
    @property
    def tensor_fault(self, /) -> str | None:
        """
        The fault of a load of Tensor Memory; `None` if there is none.
        """
    @property
    def text(self, /) -> str:
        """
        The load.
        """
    @property
    def undefined(self, /) -> dict[str, int]:
        """
        The lanes with an undefined outcome, by the qualifier that does not fit their memory.
        """

@final
class Replay:
    """
    The result of a replay.

    A notebook shows the headline and the rows with the most sectors beyond the ideal.
    """
    def __eq__(self, other: object, /) -> bool: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def _repr_html_(self, /) -> str: ...
    @staticmethod
    def from_json(summary: SummaryJson) -> Replay:
        """
        Reads a summary that the command wrote with `--format json`: bytes or a `str`, of a whole replay or of a shard.
        """
    def html(self, /, path: str | PathLike[str] | None = None, *, by_launch: bool = False) -> str:
        """
        The page for a browser. If a path is given, it is also written to this file, which appears under its name when it
        is complete. The page adds launches of a kernel up, unless `by_launch`.

        Raises
        ------
        Error
            If the file cannot be written.
        """
    @property
    def messages(self, /) -> list[str]:
        """
        Notes for the user.
        """
    @property
    def rows(self, /) -> Table:
        """
        The counts of each instruction of each launch as a table: `polars.DataFrame(replay.rows)`. A row is a load,
        store, atomic, reduction, or one side of a copy.
        """
    @property
    def summary(self, /) -> Summary:
        """
        The counts. For a shard, with only the launches that it touched.
        """
    def to_dict(self, /) -> "dict[str, Any]":
        """
        The same JSON as a dictionary.
        """
    def to_json(self, /) -> bytes:
        """
        The JSON of `warpload replay --format json`, byte for byte.
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
class Trace:
    """
    A trace. A binary trace is read; a trace in a text format is imported first.

    It is a table with a row for each access, for everything that reads Arrow's PyCapsule interface:
    `polars.DataFrame(trace)`, `pyarrow.table(trace)`, `duckdb.from_arrow(trace)`.

    Parameters
    ----------
    path
        The trace.
    values
        Whether the table has a column with the values of accesses.
    threads
        The number of threads that import a text trace; as many as can run at once if not given.
    mmap
        Map a binary trace instead of reading it, for traces that are larger than memory, or to replay only a part. The
        file must not change while it is open: if it becomes shorter, a signal ends the process.

    Raises
    ------
    Error
        If the file is not a trace or is damaged. A missing file is a :class:`FileNotFoundError`.
    """
    def __arrow_c_schema__(self, /) -> CapsuleType:
        """
        Exports the columns as a schema of the Arrow C data interface.
        """
    def __arrow_c_stream__(self, /, requested_schema: "object | None" = None) -> CapsuleType:
        """
        Exports the accesses as a new stream of the Arrow C data interface.
        """
    def __enter__(self, /) -> Trace: ...
    def __exit__(self, /, *_raised: "object") -> "None": ...
    def __len__(self, /) -> int:
        """
        The number of accesses, the rows of the table: loads, stores, atomics, reductions and sides of copies.
        """
    def __new__(cls, /, path: str | PathLike[str], values: bool = False, *, threads: SupportsIndex | None = None, mmap: bool = False) -> Trace: ...
    def __repr__(self, /) -> str: ...
    def accesses(self, /, *, values: bool | None = None, threads: SupportsIndex = ..., **options: "Any") -> Table:
        """
        The accesses as a table: a row for each load, store, atomic, reduction and side of a copy.

        Parameters
        ----------
        values
            Whether to add a column with values: those of the trace, and what loads without them load from `fill`; by
            default as the trace was opened.
        threads
            How many threads make batches ahead, at most as many as can run at once. They belong to this process: a
            stream that was made before a fork raises an error in the child, which has to make its own.
        **options
            The accesses to list (`kernel`, `pc`, `opcode`, `space`), and the memory that loads read (`fill`,
            `address_bits`, `shared_window`, `local_window`).
        """
    def close(self, /) -> None:
        """
        Releases the file, or its bytes. Tables of accesses that still exist keep them.
        """
    @property
    def contents(self, /) -> Dictionary:
        """
        The JSON of `warpload show --format json` as a dictionary: source, kernels, opcodes and counts.
        """
    @property
    def path(self, /) -> str:
        """
        The path, as it was given; of the trace of a launch, the file of its module.
        """
    def replay(self, /, *, shard: tuple[SupportsIndex, SupportsIndex] | None = None, progress: Any | None = None, **options: "Any") -> Replay:
        """
        Executes every load, and returns the counts of every access.

        Parameters
        ----------
        shard
            The shard's number, from 0, and the number of shards.
        progress
            Called with the number of bytes replayed so far and the number of all bytes. An exception from it, and
            Ctrl-C, stop the replay.
        **options
            The options of `warpload replay`: the memory that loads read (`image`, a path, `Memory` or `Machine`; `fill`,
            `address_bits`, `shared_window`, `local_window`), the accesses to count (`kernel`, `pc`, `opcode`, `space`),
            and `threads`, `merge_pairs`, `cubin`, `demangle`.

        Raises
        ------
        Error
            If the trace is damaged (`kind` is `"input"`), an option is wrong (`"argument"`), or nothing is selected
            (`"selection"`).
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
class Violation:
    """
    A rule that a load breaks.
    """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self, /) -> int: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __new__(cls, /, rule: str, error: str, line: SupportsIndex, column: SupportsIndex, help: str | None) -> Violation: ...
    def __reduce__(self, /) -> "tuple[object, ...]": ...
    def __repr__(self, /) -> str: ...
    def __str__(self, /) -> str: ...
    @property
    def column(self, /) -> int:
        """
        The column, in characters, from 1.
        """
    @property
    def error(self, /) -> str:
        """
        The error.
        """
    @property
    def help(self, /) -> str | None:
        """
        A suggestion; `None` if there is none.
        """
    @property
    def line(self, /) -> int:
        """
        The line in the module, from 1.
        """
    @property
    def rule(self, /) -> str:
        """
        The rule's name, as in docs/ptx.md.
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

def check_ptx(module: PtxModule, *, compile_only: bool = False) -> Check:
    """
    Checks the loads of a module.

    Parameters
    ----------
    module
        A path, or the text.
    compile_only
        Treat the module as a part of a program that is linked later.

    Raises
    ------
    Error
        If it is not a module: the `kind` is `"syntax"`, with the place at fault.
    """

def compare(a: Replay, b: Replay) -> Comparison:
    """
    Compares two replays, instruction by instruction.

    Raises
    ------
    Error
        With the `kind` `"selection"` if they counted different accesses.
    """

def conform(suite: Suite, examinee: Examinee | None = None, *, executor: Executor | None = None, families: SupportsGetItem[int, Family] = ..., flags: SupportsGetItem[int, str] = ..., skip_decisions: bool = False, jobs: SupportsIndex | None = None, timeout: SupportsFloat | SupportsIndex | None = None, failures: SupportsIndex = 100) -> Conformance:
    """
    Checks an emulator against the conformance suite.

    Ctrl-C, SIGTERM and exceptions of other signal handlers end the program, and then this call. SIGTERM does so only on
    the main thread, because Python handles signals there.

    Parameters
    ----------
    suite
        A file of cases, one JSON object a line, or a folder of them, or several.
    examinee
        The emulator: a function that takes a question, a `dict`, and returns the answer, a `dict`, or `None` for
        unsupported questions; or a program with its arguments, as a list or as a text that is split as a shell does.
        Without it, our own executors are asked. docs/conformance.md has the questions and answers. If a function raises
        `NotImplementedError`, the case is skipped; any other exception fails the case.
    executor
        Which of our own executors to ask: `"fast"`, `"reference"`, or `"both"`, each of which must give the expected
        answer. `"both"` by default.
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

def decode_file(path: str | PathLike[str], *, sm: "str | SupportsIndex | None" = None) -> list[Load]:
    """
    Decodes every load of a cubin, of a listing, or of a file that contains cubins.

    `sm` chooses the cubins of that SM, or names the SM if the file does not.

    In a file of several images, each one that cannot be read causes a `UserWarning` if others can.
    """

def encode(text: str, sm: "str | SupportsIndex" = ...) -> int:
    """
    Assembles the text of a load, and returns its word.

    >>> hex(warpload.encode("LD.E.128 R4, [R4], P0"))
    '0x80d0000000070404'
    """

def execute(instruction: "Instruction | str", machine: Machine, warp: Warp, *, executor: Executor = ...) -> Outcome:
    """
    Executes an instruction, or the text of an SM 5.x load: changes the registers of `warp`, and returns the outcome. With `executor="both"`, both executors
    have to agree.
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

def import_(source: str | PathLike[str], output: str | PathLike[str], *, compression: str = "zstd", threads: SupportsIndex | None = None) -> Trace2:
    """
    Imports a trace of another tool as a binary trace, and opens that.

    Parameters
    ----------
    source
        The trace, of one of the formats of `warpload import`, or a list of traces.
    output
        The binary trace to write. It appears under its name when it is complete and on the disk. It keeps the mode of a
        file that it replaces, and must not replace the source or one of its files.
    compression
        `"none"`, the fastest to replay, `"zstd"`, or `"zstd:LEVEL"`, from 1 to 19.
    threads
        The number of threads; as many as can run at once if not given.

    Raises
    ------
    Error
        If the source is not a trace, with the line at fault, or the output cannot be written.
    """

def lower_ptx(module: PtxModule) -> list[LoweredLoad]:
    """
    Lowers the loads of a module, each by itself, to SM 5.x.
    """

def merge(replays: Replays) -> Replay:
    """
    Adds replays: the shards of a replay to the whole, and whole replays to one of all their launches.

    Parameters
    ----------
    replays
        The replays, each shard once, in any order.

    Raises
    ------
    Error
        If shards are missing, or the replays do not fit.
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

def run(arguments: SupportsGetItem[int, str], *, stdout_is_closed: bool = False) -> tuple[int, str | None]:
    """
    Runs the command in this process, on its standard streams. Returns the exit status, and the kind of the error
    behind status 2: `system` if the next try may succeed, `selection` or `input`.

    The process should do nothing else, because the command installs its own signal handlers. `stdout_is_closed` tells
    the command that standard output was closed and its descriptor is something else by now.
    """

def run_ptx(module: PtxModule, *, function: str | None = None, image: str | PathLike[str] | None = None, registers: NamedValues | None = None, parameters: NamedValues | None = None, places: NamedValues | None = None, active: SupportsIndex = ..., tensor_memory: TensorContents | None = None, warp: SupportsIndex = 0, lane_mode: LaneMode = ...) -> list[RanLoad]:
    """
    Executes the loads of a function, in the order of the text.

    Parameters
    ----------
    module
        A path, or the text.
    function
        The function's name; may be left out if there is only one.
    image
        The manifest of a memory image.
    registers
        Values by name: a number for all lanes, 32 numbers, or an expression of `lane`, such as `"0x1000+16*lane"`. A
        predicate is `True` or `False` for all lanes, 32 of these, or a number, which is a mask, bit n for lane n.
    parameters
        Values of the function's parameters by name, or their elements.
    places
        The addresses of variables, in bytes.
    active
        The active lanes, bit n for lane n.
    tensor_memory
        The contents of Tensor Memory: a file of 262,144 bytes, these bytes, or `"pattern:NAME"`.
    warp
        The warp's number in its block, which decides the lanes of Tensor Memory that it may read.
    lane_mode
        The meaning of the lane in a Tensor Memory address.
    """

def run_tensor_load(instruction: "SupportsIndex | str | Instruction", *, warp: SupportsIndex = 0, taddr: SupportsIndex = 0, memory: TensorContents | None = None, sm: "str | SupportsIndex | None" = None, lane_mode: LaneMode = ..., hardware_alignment: bool = False) -> Loaded:
    """
    Executes a load from Tensor Memory.

    Parameters
    ----------
    instruction
        The load in PTX syntax or, with `sm`, the word or text of an `LDTM`.
    warp
        The warp's number in its thread block; its value modulo 4 decides the lanes that it may read.
    taddr
        The value of the address register: the lane times 65,536, plus the column.
    memory
        The contents of Tensor Memory: a file of 262,144 bytes, these bytes, or one of the command's patterns,
        `"pattern:NAME"`.
    sm
        The SM of the word or text.
    lane_mode
        The meaning of the lane in an address: a lane that the warp may read, or a number modulo 32 among them.
    hardware_alignment
        Also refuse odd columns if the hardware is known, or assumed, to require even ones.

    Raises
    ------
    Error
        If the load breaks a rule, of the assembler or of addresses. `rule` is its name.
    """

def survive_forks() -> None:
    """
    Initializes everything that is otherwise initialized on first use. One thread would do that while others wait for
    it, and a child process forked in the meantime would wait forever.
    """

def tensor_map(shape: "SupportsIndex | str | Instruction", repeat: "str | SupportsIndex | None" = None, *, pack: bool = False, sm: "str | SupportsIndex | None" = None) -> Map:
    """
    Draws the thread and register that each cell of a load goes to.

    Parameters
    ----------
    shape
        `16x64b`, `16x128b`, `16x256b`, `32x32b` or `16x32bx2`; with `sm`, the word or text of an `LDTM`.
    repeat
        The number of repetitions: 1, 2, 4 and so on up to 128, or `"x4"`.
    pack
        Pack two neighbouring 16-bit columns into one register.
    sm
        The SM of the word or text.
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
