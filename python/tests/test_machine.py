"""Memory, Machine, Warp and execute."""

from __future__ import annotations

import gc
import mmap
import subprocess
import sys
import typing

import numpy as np
import pytest
import warpload as wl
from warpload import _types

LANES = np.arange(32, dtype=np.uint32)


def machine(*, shared: bytes = b"", misaligned: str = "force") -> wl.Machine:
    memory = wl.Memory({0x1000: bytes(range(256))}, shared=shared or None)
    return wl.Machine(memory, misaligned=misaligned)


def test_a_load_reads_what_is_there() -> None:
    warp = wl.Warp()
    warp[2] = 0x1000 + 4 * LANES
    outcome = wl.execute("LD R0, [R2 + 4]", machine(), warp)
    words = np.frombuffer(bytes(range(256)), "<u4")
    assert (warp[0] == words[1:33]).all()
    assert (outcome.executing, outcome.destination, outcome.register_count) == (0xFFFF_FFFF, "R0", 1)
    assert outcome.warp_fault is None and outcome.lane_faults == [] and outcome.uniform is None


def test_registers_go_in_and_out_as_arrays() -> None:
    registers = np.arange(96, dtype=np.uint32).reshape(3, 32)
    warp = wl.Warp(registers)
    assert warp.registers.shape == (255, 32) and warp.registers.dtype == np.uint32
    assert (warp.registers[:3] == registers).all() and not warp.registers[3:].any()
    # A transposed array is not contiguous.
    assert (wl.Warp(registers.T.copy().T).registers == warp.registers).all()
    # Other integers, if they fit.
    assert (wl.Warp(registers.astype(np.int64)).registers == warp.registers).all()
    assert (wl.Warp(registers.tolist()).registers == warp.registers).all()
    copy = warp.copy()
    copy.registers = registers[:1] + np.uint32(1)
    assert copy != warp and copy[0][0] == 1 and (copy[1] == warp[1]).all()


def test_what_comes_out_is_a_copy() -> None:
    warp = wl.Warp()
    registers = warp.registers
    with pytest.raises(ValueError, match="read-only"):
        registers[0, 0] = 1
    warp[0] = 7
    assert registers[0, 0] == 0 and (warp[0] == 7).all()


def test_addresses_have_as_many_bits_as_the_sm_has() -> None:
    beyond = 1 << 45
    memory = wl.Memory({0x1000: bytes(256)})
    assert memory.address_bits is None
    assert wl.Memory({0x1000: bytes(256)}, address_bits=44).address_bits == 44
    warp = wl.Warp()
    warp[2], warp[3] = [beyond & 0xFFFF_FFFF] * 32, [beyond >> 32] * 32

    def fault(memory: wl.Memory, sm: str, text: str) -> str:
        load = wl.decode(wl.encode(text, sm), sm)
        assert load is not None
        for executor in typing.get_args(_types.Executor):
            outcome = wl.execute(load, wl.Machine(memory), warp.copy(), executor=executor)
            kinds = {fault.kind for fault in outcome.lane_faults}
            assert len(kinds) == 1
        return kinds.pop()

    narrow, new = ("50", "LD.E R0, [R2], PT"), ("80", "LD.E R0, [R2.64]")
    assert fault(memory, *narrow) == "outside_window"
    assert fault(memory, *new) == "outside_allocation"
    for bits, expected in ((40, "outside_window"), (49, "outside_allocation")):
        given = wl.Memory({0x1000: bytes(256)}, address_bits=bits)
        assert fault(given, *narrow) == fault(given, *new) == expected
    # What only newer SMs can address.
    far = wl.Memory({beyond: bytes(range(256))}, shared=bytes(16))
    outcome = wl.execute(wl.decode(wl.encode(new[1], "80"), "80"), wl.Machine(far), warp)
    assert not outcome.lane_faults and (warp[0] == 0x03020100).all()
    with pytest.raises(wl.Error, match="beyond 2\\^40, the limit of addresses on SM 5.x and 6.x"):
        fault(far, *narrow)
    with pytest.raises(wl.Error, match="reaches beyond 2\\^40"):
        wl.Memory({beyond: bytes(256)}, address_bits=40)
    with pytest.raises(wl.Error, match="reaches beyond 2\\^49"):
        wl.Memory({1 << 49: bytes(256)})


@pytest.mark.parametrize(
    "registers",
    [np.zeros((3, 31), np.uint32), np.zeros((256, 32), np.uint32), np.zeros(32, np.uint32)],
)
def test_other_shapes_are_refused(registers: np.ndarray) -> None:
    with pytest.raises((TypeError, ValueError)):
        wl.Warp(registers)


def test_numbers_that_do_not_fit_are_refused() -> None:
    for value in (-1, 1 << 32):
        with pytest.raises(OverflowError):
            wl.Warp([[value] * 32])
    with pytest.raises(TypeError):
        wl.Warp(np.zeros((1, 32)))
    for register in (-1, 255, 256, 300, 1 << 70):
        with pytest.raises(IndexError, match="0 to 254"):
            wl.Warp()[register]
        with pytest.raises(IndexError):
            wl.Warp()[register] = 0
    for register in (1.0, "R1", None):
        with pytest.raises(TypeError):
            wl.Warp()[register]  # type: ignore[index]
    assert not wl.Warp()[np.uint8(254)].any()
    with pytest.raises(ValueError, match="32 values"):
        wl.Warp()[0] = [1, 2]


def test_predicates_and_lanes() -> None:
    warp = wl.Warp(predicates=[0xF0], active=0xFF, uniform_registers=[5, 6], uniform_predicates=2)
    assert warp.predicates.tolist() == [0xF0, 0, 0, 0, 0, 0, 0]
    assert warp.uniform_registers[:3].tolist() == [5, 6, 0]
    assert (warp.active, warp.uniform_predicates) == (0xFF, 2)
    warp[2] = 0x1000
    outcome = wl.execute("@P0 LD R0, [R2]", machine(), warp)
    assert outcome.executing == 0xF0
    assert np.flatnonzero(warp[0]).tolist() == [4, 5, 6, 7]
    warp.active = 0
    assert wl.execute("LD R0, [R2]", machine(), warp).destination is None


def test_faults_are_objects() -> None:
    warp = wl.Warp()
    warp[2] = 0x10F0 + 4 * LANES
    outcome = wl.execute("LD R0, [R2]", machine(), warp)
    faults = outcome.lane_faults
    assert [fault.lane for fault in faults] == list(range(4, 32))
    fault = faults[0]
    assert (fault.kind, fault.address, fault.bytes) == ("outside_allocation", 0x1100, 4)
    assert "CUDA_EXCEPTION" in fault.error
    assert repr(fault) == "LaneFault('outside_allocation', lane=4, address=0x1100)"
    warp[2] = 0x1001
    reported = wl.execute("LD R0, [R2]", machine(misaligned="report"), warp).lane_faults
    assert {fault.kind for fault in reported} == {"misaligned_address"}
    assert {fault.rounded for fault in reported} == {0x1000}
    whole = wl.execute("LD.128 R1, [R2]", machine(), warp)
    assert whole.warp_fault is not None
    assert (whole.warp_fault.kind, whole.warp_fault.register) == ("misaligned_register", "R1")


def test_faults_and_outcomes_are_values() -> None:
    def execute(address: int, text: str = "LD R0, [R2]") -> wl.Outcome:
        warp = wl.Warp()
        warp[2] = address + 4 * LANES
        return wl.execute(text, machine(), warp)

    first, again, other = execute(0x10F0), execute(0x10F0), execute(0x10F4)
    assert first == again and first is not again and first != other and first != 1
    assert first.lane_faults == again.lane_faults != other.lane_faults
    assert len({*first.lane_faults, *again.lane_faults}) == len(first.lane_faults)
    whole, same = execute(0x1000, "LD.128 R1, [R2]"), execute(0x1010, "LD.128 R1, [R2]")
    assert whole.warp_fault == same.warp_fault is not None
    assert hash(whole.warp_fault) == hash(same.warp_fault)
    # A warp can change.
    with pytest.raises(TypeError, match="unhashable"):
        hash(wl.Warp())


def test_both_executors_agree() -> None:
    warp = wl.Warp(active=0x0FFF_FFF0)
    warp[2] = 0x1000 + 12 * LANES
    fast, literal = warp.copy(), warp.copy()
    outcomes = [
        wl.execute("LD.64 R4, [R2]", machine(), fast),
        wl.execute("LD.64 R4, [R2]", machine(), literal, executor="reference"),
    ]
    both = warp.copy()
    assert wl.execute("LD.64 R4, [R2]", machine(), both, executor="both") == outcomes[0] and both == fast
    with pytest.raises(wl.Error, match='executor: expected "fast", "reference" or "both"'):
        wl.execute("LD.64 R4, [R2]", machine(), both, executor="slow")
    assert fast == literal and repr(outcomes[0]) == repr(outcomes[1])


def test_an_instruction_that_cannot_be_executed() -> None:
    load = wl.decode(0xEF96000000000000)
    assert load is not None and load.size is None and "INVALIDSIZE6" in load.text
    with pytest.raises(wl.Error):
        wl.execute(load, machine(), wl.Warp())


def test_an_image_is_a_machine(traces) -> None:
    image = wl.Machine.open(traces / "generic.image.json")
    assert len(image.memory) > 0 and image.memory.allocations


# Borrowed and copied bytes.


def value(memory: wl.Memory, base: int = 0x1000) -> int:
    warp = wl.Warp()
    warp[2] = base
    wl.execute("LD R0, [R2]", wl.Machine(memory), warp)
    return int(warp[0][0])


def test_bytes_are_borrowed() -> None:
    source = bytes(range(64))
    before = sys.getrefcount(source)
    memory = wl.Memory({0x1000: source})
    assert memory.is_borrowed and sys.getrefcount(source) > before
    view = memoryview(source)
    parts = wl.Memory({0x1000: view[4:32]}, shared=np.frombuffer(view[32:], np.uint16))
    assert parts.is_borrowed and value(parts) == 0x07060504
    del view, parts, memory
    gc.collect()
    assert sys.getrefcount(source) == before


def test_bytes_of_several_objects_are_copied() -> None:
    memory = wl.Memory({0x1000: bytes(64), 0x2000: b"\1" * 64})
    assert not memory.is_borrowed and value(memory, 0x2000) == 0x01010101


def test_a_read_only_map_is_borrowed(tmp_path) -> None:
    path = tmp_path / "image"
    path.write_bytes(b"\2" * 4096)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    memory = wl.Memory({0x1000: mapped})
    assert memory.is_borrowed and value(memory) == 0x02020202
    assert wl.Memory({0x1000: np.memmap(path, np.uint8, "r")[16:]}).is_borrowed
    with pytest.raises(BufferError):
        mapped.close()
    del memory
    mapped.close()


class Pretender(np.ndarray):
    """An array that says that another object holds its bytes."""

    claimed: object = None

    @property
    def base(self) -> object:  # type: ignore[override]
        return self.claimed


def pretender() -> tuple[object, bytearray]:
    held = bytearray(b"\3" * 64)
    array = np.frombuffer(held, np.uint8).view(Pretender)
    array.claimed = bytes(64)
    return array, held


def writable_map() -> tuple[object, mmap.mmap]:
    mapped = mmap.mmap(-1, 4096)
    mapped[:64] = b"\3" * 64
    return memoryview(mapped).toreadonly(), mapped


def read_only_array() -> tuple[object, np.ndarray]:
    held = np.full(64, 3, np.uint8)
    view = held.view()
    view.flags.writeable = False
    return view, held


class FakeMap(mmap.mmap):
    pass


def fake_map() -> tuple[object, mmap.mmap]:
    mapped = FakeMap(-1, 4096)
    mapped[:64] = b"\3" * 64
    return memoryview(mapped).toreadonly(), mapped


@pytest.mark.parametrize(
    "make",
    [
        lambda: (held := bytearray(b"\3" * 64), held),
        lambda: (memoryview(held := bytearray(b"\3" * 64)).toreadonly(), held),
        lambda: (np.frombuffer(memoryview(held := bytearray(b"\3" * 64)).toreadonly(), "u1"), held),
        lambda: (held := np.full(64, 3, np.uint8), held),
        read_only_array,
        writable_map,
        fake_map,
        pretender,
    ],
)
def test_nothing_changes_the_bytes_of_a_memory(make) -> None:
    source, held = make()
    memory = wl.Memory({0x1000: source})
    held[:64] = b"\4" * 64 if not isinstance(held, np.ndarray) else 4
    assert not memory.is_borrowed and value(memory) == 0x03030303


def test_no_monkeypatch_makes_writable_bytes_borrowed(monkeypatch) -> None:
    source, held = read_only_array()
    for kind in (np.ndarray, memoryview, bytearray, type("mmap", (bytearray,), {})):
        monkeypatch.setattr(mmap, "mmap", kind)
        assert not wl.Memory({0x1000: source}).is_borrowed


def test_no_forged_type_is_a_map() -> None:
    class Forging(type):
        __flags__ = property(lambda kind: 1 << 8)

    forged = Forging("mmap", (np.ndarray,), {"__module__": "mmap"})
    array = np.zeros(4096, np.uint8).view(forged)
    array.flags.writeable = False
    assert not wl.Memory({0x1000: array}).is_borrowed


def test_no_forged_array_is_of_a_map(tmp_path) -> None:
    """In a new process, because the function is looked up once."""
    path = tmp_path / "image"
    path.write_bytes(bytes(4096))
    script = """if True:
        import mmap, sys, numpy, warpload, warpload._arrays
        writable = numpy.zeros(4096, numpy.uint8)
        warpload._arrays.octets = lambda source: writable
        with open(sys.argv[1], "rb") as file:
            image = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        print(warpload.Memory({0x1000: image}).is_borrowed)
    """
    done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr


def test_a_memory_that_is_not_valid() -> None:
    with pytest.raises(wl.Error, match="overlap"):
        wl.Memory({0x1000: bytes(64), 0x1010: bytes(64)})
    with pytest.raises(wl.Error):
        wl.Memory(address_bits=31)
    with pytest.raises(TypeError):
        wl.Memory({0x1000: 5})
    with pytest.raises(TypeError, match="contiguous"):
        wl.Memory({0x1000: memoryview(bytes(64))[::2]})
    with pytest.raises(wl.Error):
        wl.Memory(local_low=bytes(33))
    assert len(wl.Memory()) == 0 and len(wl.Memory({0x1000: b""})) == 0


def anonymous() -> int:
    """The anonymous memory of this process, in bytes."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("RssAnon:"))
    return int(line.split()[1]) << 10


def test_a_large_map_is_not_copied(tmp_path) -> None:
    path = tmp_path / "image"
    size = 1 << 30
    # No bytes are written: the file has a hole.
    with path.open("wb") as file:
        file.truncate(size)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    before = anonymous()
    memory = wl.Memory({0x1_0000_0000: mapped})
    warp = wl.Warp()
    warp[2], warp[3] = 4096 * LANES, 1
    assert not wl.execute("LD.E R0, [R2]", wl.Machine(memory), warp).lane_faults
    assert memory.is_borrowed and len(memory) == size
    assert anonymous() - before < 16 << 20
