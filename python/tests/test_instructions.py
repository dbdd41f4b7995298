"""decode, encode, explain and loads."""

from __future__ import annotations

import copy
import json
import pickle
import sys

import numpy as np
import pytest
import warpload as wl
from hypothesis import example, given
from hypothesis import strategies as st

WORD = 0x80D0000000070404
TEXT = "LD.E.128 R4, [R4], P0"


def test_a_word_has_its_parts() -> None:
    load = wl.decode(WORD)
    assert load is not None
    assert str(load) == load.text == TEXT
    assert repr(load) == "Instruction('LD.E.128 R4, [R4], P0', sm='50')"
    assert (load.mnemonic, load.opcode, load.space, load.size) == ("LD", "LD.E.128", "generic", 16)
    assert (load.destination, load.register_count, load.plg) == ("R4", 4, "P0")
    assert load.address == wl.Address("R4", 0) and load.address.base == "R4" and load.address.offset == 0
    assert (load.guard, load.word, load.sm) == (None, WORD, "50")
    assert wl.encode(TEXT) == WORD


def test_words_of_128_bits() -> None:
    word = 0x000EA2000C1E19000000080402007981
    load = wl.decode(word, sm="90")
    assert load is not None
    assert load.text == "LDG.E R0, desc[UR4][R2.64+0x8]"
    assert (load.space, load.size, load.address, load.sm) == ("global", 4, wl.Address("R2", 8), "90")
    assert wl.decode(word, sm=90) == load
    guarded = wl.decode(wl.encode("@!P0 LDS R4, [R2+0x10]", sm="80"), sm="80")
    assert guarded is not None and (guarded.guard, guarded.space) == ("@!P0", "shared")


def test_other_words_are_no_loads() -> None:
    assert wl.decode(0) is None
    assert wl.decode(0, sm="90") is None
    assert wl.decode((1 << 128) - 1, sm="90") is None


@pytest.mark.parametrize(
    ("word", "sm", "message"),
    [
        (1 << 64, "50", "is not a word of 64 bits"),
        (-1, "50", "is not a word of 64 bits"),
        (1 << 128, "90", "is not a word of 128 bits"),
        (WORD, "13", "SM"),
    ],
)
def test_what_is_no_word_is_an_error(word: int, sm: str, message: str) -> None:
    with pytest.raises(wl.Error, match=message) as raised:
        wl.decode(word, sm)
    assert isinstance(raised.value, ValueError)


def test_numbers_of_other_types_are_words() -> None:
    known = wl.decode(WORD)
    assert wl.decode(np.uint64(WORD)) == wl.decode(np.uint64(WORD), np.int64(50)) == known
    assert wl.explain(np.uint64(WORD)) == wl.explain(WORD)
    for word in (1.0, "1", None):
        with pytest.raises(TypeError):
            wl.decode(word)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sm: expected"):
        wl.decode(WORD, 5.0)  # type: ignore[arg-type]


def test_an_illegal_word_is_the_commands_error(command) -> None:
    legal = wl.encode("LDG.E R0, desc[UR4][R2.64+0x8]", sm="90")
    words = [legal ^ (1 << bit) for bit in range(128)]
    refused = 0
    for word in words:
        try:
            wl.decode(word, "90")
        except wl.Error as error:
            refused += 1
            if refused == 1:
                answer = command("explain", "--sm", "90", f"{word:#034x}")
                assert answer.stderr.decode().strip() == f"error: {error}"
    assert refused > 0


def test_equality_hashes_and_copies() -> None:
    first, second = wl.decode(WORD), wl.decode(WORD)
    assert first == second and hash(first) == hash(second) and first is not second
    assert first != wl.decode(WORD ^ 1) and first != WORD
    assert len({first, second, wl.decode(WORD ^ 1)}) == 2
    assert pickle.loads(pickle.dumps(first)) == first == copy.copy(first)
    with pytest.raises(AttributeError):
        first.text = "LD"  # type: ignore[misc, union-attr]


def test_an_error_of_a_text_has_its_place() -> None:
    with pytest.raises(wl.Error) as raised:
        wl.encode("LD.E.64 R4, [R2 - -4]")
    error = raised.value
    assert str(error) == "two minus signs"
    assert (error.line, error.column, error.span) == (1, 17, (16, 20))
    assert error.help == "write `+0x4`"
    assert error.file == "<argument>"
    assert "^^^^" in (error.drawing or "")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.span, again.help) == (str(error), error.span, error.help)
    if sys.version_info >= (3, 11):
        assert error.__notes__ == [error.drawing]


@given(st.integers(0, (1 << 64) - 1))
@example(WORD)
def test_a_decoded_word_is_encoded_again(word: int) -> None:
    # Opcodes of loads, as most words are none.
    for opcode in (0x8, 0x9, 0xEED, 0xEF4, 0xEF9):
        high = opcode << 60 if opcode < 0x10 else opcode << 52
        one = high | word & ((1 << 60) - 1 if opcode < 0x10 else (1 << 52) - 1)
        load = wl.decode(one)
        if load is not None:
            assert load.word == one
            # A size that means nothing has a text that is not assembled.
            if load.size is None and "INVALID" in load.text:
                continue
            again = wl.decode(wl.encode(load.text))
            assert again is not None and again.text == load.text


@given(
    st.sampled_from(["75", "80", "90a", "100", "121"]),
    st.integers(0, 254),
    st.integers(0, 126),
    st.integers(-0x800000, 0x7FFFFF),
    st.sampled_from(["", ".64", ".128", ".U8", ".S16"]),
    st.sampled_from(["", "@P0 ", "@!P6 "]),
)
def test_an_encoded_text_is_decoded_again(
    sm: str, to: int, base: int, offset: int, size: str, guard: str
) -> None:
    sign = "-" if offset < 0 else "+"
    text = f"{guard}LDS{size} R{to}, [R{2 * base}{sign}{abs(offset):#x}]"
    load = wl.decode(wl.encode(text, sm), sm)
    assert load is not None
    assert (load.mnemonic, load.space, load.sm) == ("LDS", "shared", sm)
    assert load.address == wl.Address(f"R{2 * base}", offset)
    assert load.guard == (guard.strip() or None)
    assert wl.encode(load.text, sm) == load.word


@given(st.text())
def test_no_text_does_more_than_raise(text: str) -> None:
    try:
        wl.encode(text)
    except wl.Error as error:
        assert error.span is not None


def test_explain_is_the_commands(command) -> None:
    one = wl.explain(WORD)
    assert str(one) + "\n" == command("explain", hex(WORD)).stdout.decode()
    known = json.loads(command("explain", "--format", "json", hex(WORD)).stdout)
    assert (one.text, one.effect, list(one.remarks)) == (
        known["text"],
        known["effect"],
        known["remarks"],
    )
    assert [field.name for field in one.fields] == [field["name"] for field in known["fields"]]
    html = one._repr_html_()
    assert html.count("<tr>") == len(one.fields) + 1 and "R4..R7" in html
    assert wl.explain(TEXT) == one == wl.explain(wl.decode(WORD))  # type: ignore[arg-type]
    assert wl.explain("LDG.E R0, desc[UR4][R2.64+0x8]", sm="90").word >> 64


def test_explain_raises_what_is_wrong() -> None:
    with pytest.raises(wl.Error, match="is not a known load"):
        wl.explain(0)
    with pytest.raises(wl.Error, match="two minus signs"):
        wl.explain("LD.E.64 R4, [R2 - -4]")


def test_loads_are_the_commands(command, traces, data) -> None:
    for path in (traces / "gather.sm_50.cubin", data / "listings128" / "tile.sm90.cubin"):
        lines = command("decode", "--format", "json", path).stdout.splitlines()
        known = [json.loads(line) for line in lines]
        found = wl.decode_file(path)
        assert len(found) == len(known) > 0
        for load, line in zip(found, known):
            assert load.function == line["function"]
            assert load.offset == int(line["offset"], 16)
            assert load.word == int(line["word"], 16)
            assert str(load) == str(load.instruction) == line["text"]
            assert load.instruction is not None and load.instruction.sm == load.sm == line["sm"]
            assert load.control is not None and load.control.stall == line["control"]["stall"]
            assert load.control.yields == line["control"]["yield"]


def test_a_missing_file_is_not_found(tmp_path, traces) -> None:
    missing = tmp_path / "missing"
    for use in (wl.decode_file, wl.Trace, wl.Machine.open, wl.ptx.check):
        with pytest.raises(FileNotFoundError) as raised:
            use(missing)
        assert (raised.value.errno, raised.value.filename) == (2, str(missing))
        assert str(raised.value) == f"[Errno 2] No such file or directory: {str(missing)!r}"
    for options in ({"image": missing}, {"cubin": missing}):
        with pytest.raises(FileNotFoundError) as raised:
            wl.Trace(traces / "generic.wlt").replay(**options)
        assert raised.value.filename == str(missing)
    # A file that a line names is an error of that line.
    listed = tmp_path / "kernelslist.g"
    listed.write_text("kernel-1.traceg\n")
    with pytest.raises(wl.Error, match="kernel-1.traceg") as line:
        wl.Trace(listed)
    assert (line.value.file, line.value.line) == (str(listed), 1)
    with pytest.raises(wl.Error, match="is a folder") as folder:
        wl.decode_file(tmp_path)
    assert folder.value.file == str(tmp_path)


def test_loads_are_values(traces) -> None:
    found, again = wl.decode_file(traces / "gather.sm_50.cubin"), wl.decode_file(traces / "gather.sm_50.cubin")
    assert found == again and len({*found, *again}) == len(found) > 1


def test_an_instruction_is_what_its_repr_shows() -> None:
    load = wl.decode(WORD)
    assert eval(repr(load), {"Instruction": wl.Instruction}) == load == wl.Instruction(WORD)
    wide = wl.Instruction("LDG.E R0, desc[UR4][R2.64+0x8]", sm=90)
    assert wide == wl.Instruction(wide.word, "90") and wide.destination == "R0"
    assert wl.Instruction("LD RZ, [R2]").destination is None
    for wrong, kind in (("LD.E.64 R4, [R2 - -4]", "syntax"), (0, "illegal"), (WORD << 64, "argument")):
        with pytest.raises(wl.Error) as raised:
            wl.Instruction(wrong)
        assert raised.value.kind == kind


def test_many_words_are_decoded_at_once() -> None:
    words = np.array([WORD, 0, WORD ^ 1, wl.encode("LDC.64 R4, c[0x3][R2+0x10]")], np.uint64)
    found = wl.decode_array(words)
    singles = [wl.decode(word) for word in words]
    assert [found[i] for i in range(len(found))] == singles
    assert found.kind.tolist() == [1, 0, 1, 1]
    assert [found.opcodes[i] if i >= 0 else None for i in found.opcode] == [
        one and one.opcode for one in singles
    ]
    assert found.size.tolist() == [16, 0, 16, 8]
    assert found.destination.tolist() == [4, -1, 5, 4]
    assert (found.base.tolist(), found.offset.tolist()) == ([4, -1, 4, 2], [0, 0, 0, 0x10])
    for same in (words.tobytes(), memoryview(words), words[::-1][::-1], words.astype(np.int64)):
        assert (wl.decode_array(same).opcode == found.opcode).all()
    word = wl.encode("LDG.E R0, desc[UR4][R2.64-0x8]", sm="90")
    wide = np.array([[word & (2**64 - 1), word >> 64]] * 2, np.uint64)
    found = wl.decode_array(wide, sm="90")
    assert len(found) == 2 and found.offset.tolist() == [-8, -8] and found[1] == wl.decode(word, "90")
    with pytest.raises(TypeError, match="words of 64 bits"):
        wl.decode_array(words.astype(np.uint32))
    with pytest.raises(ValueError, match="words of 16 bytes, not 8 bytes"):
        wl.decode_array(words[:1], sm="90")
    with pytest.raises(IndexError):
        found[2]


def test_a_listing_without_words_has_instructions(data) -> None:
    listings = data / "listings"
    without = wl.decode_file(listings / "chase.sm_50.nvdisasm.txt")
    known = wl.decode_file(listings / "chase.sm_50.cubin")
    assert [str(load.instruction) for load in without] == [str(load) for load in known]


def test_a_text_is_no_stream() -> None:
    for read in (wl.encode, wl.explain):
        with pytest.raises(wl.Error):
            read("-")
