"""Accel-Sim text: header, ungrouped (`.trace`) and grouped (`.traceg`) files."""

import re

from . import accelsim_line
from .common import BadInput, Kernel, decimal, hexadecimal, terminated_lines, triple

HEADER_LINE = re.compile(r"-([^=]*)=(.*)")


class Header:
    """The `-key = value` lines."""

    def __init__(self):
        self.values = {}
        self.has_format = False

    def add(self, line):
        match = HEADER_LINE.match(line)
        if not match:
            raise BadInput("a header line without '='")
        key = match[1].strip()
        if key in self.values:
            raise BadInput(f"`-{key}` for the second time: a second header")
        self.values[key] = match[2].strip()

    def finish(self):
        """Checks what every reader needs."""
        for key in ("kernel name", "grid dim", "block dim", "accelsim tracer version"):
            if key not in self.values:
                raise BadInput(f"the header has no `-{key}`")
        stated = self.values["accelsim tracer version"]
        number = re.match(r"[0-9]+", stated)
        if not number or int(number[0]) > 6:
            raise BadInput(f"tracer version {stated}; expected 1.2 to 6")
        self.version = int(number[0]) if int(number[0]) >= 3 else 1
        self.grid = triple(self.values["grid dim"], "grid dim")
        self.block = triple(self.values["block dim"], "block dim")
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.warps = -(-self.threads // 32)
        lineinfo = self.values.get("enable lineinfo", "0")
        self.lineinfo = self.version >= 4 and lineinfo != "0"
        self.kernel = Kernel(
            self.values["kernel name"], self._base("shmem base_addr"), self._base("local mem base_addr")
        )

    def _base(self, key):
        return hexadecimal(self.values[key], key) if key in self.values else None

    def check_cta(self, cta):
        if any(i >= n for i, n in zip(cta, self.grid)):
            raise BadInput(f"thread block {cta} is outside the grid {self.grid}")

    def check_warp(self, warp):
        if warp >= self.warps:
            raise BadInput(f"warp {warp} is outside the block of {self.warps} warps")

    def threads_of(self, warp):
        return min(32, self.threads - 32 * warp)

    def instruction(self, items, ids, warp):
        """Reads an instruction after its `ids` fields, perhaps with core ids and a source line."""
        before = accelsim_line.fields_before_pc(items, ids)
        if before - ids - self.lineinfo not in (0, 2):
            raise BadInput(f"{before} fields before the PC")
        for token in items[ids:before]:
            decimal(token, "a field before the PC")
        return accelsim_line.parse(items[before:], self.kernel, self.version, self.threads_of(warp))


def read(name, text):
    grouped = any(line.strip() == "#BEGIN_TB" for line in text.split("\n"))
    header = Header()
    reader = None
    number = 0
    for number, raw in terminated_lines(name, text):
        line = raw.strip()
        try:
            if not line:
                continue
            if line.startswith("-"):
                if reader is not None:
                    raise BadInput("a second header")
                header.add(line)
                continue
            if line.startswith("#traces format"):
                header.has_format = True
                continue
            if line.startswith("#") and line not in ("#BEGIN_TB", "#END_TB"):
                continue
            if reader is None:
                header.finish()
                yield "kernel", header.kernel
                reader = Grouped(header) if grouped else Ungrouped(header)
            record = reader.line(line)
            if record is not None:
                yield "record", record
        except BadInput as error:
            raise BadInput(f"{name}:{number}: {error}") from None
    try:
        if reader is None:
            if not header.has_format:
                raise BadInput("the file ends inside the header")
            header.finish()
            yield "kernel", header.kernel
        elif grouped and reader.cta is not None:
            raise BadInput("the file ends inside a thread block")
    except BadInput as error:
        raise BadInput(f"{name}:{number}: {error}") from None


class Ungrouped:
    def __init__(self, header):
        self.header = header
        self.ids = 11 if header.version >= 6 else 4

    def line(self, line):
        items = line.split()
        if len(items) < self.ids:
            raise BadInput(f"{len(items)} fields; expected an instruction")
        ids = [decimal(token, "an id", 0) for token in items[: self.ids]]
        self.header.check_cta(ids[:3])
        self.header.check_warp(ids[3])
        return self.header.instruction(items, self.ids, ids[3])


class Grouped:
    """`#BEGIN_TB`, the block's lines, per warp its lines, `#END_TB`."""

    def __init__(self, header):
        self.header = header
        self.cta = None  # None outside a block, () before its `thread block` line
        self.blocks = set()
        self.warp = None
        self.left = None  # instructions of the warp to come; None before `insts`

    def line(self, line):
        if line == "#BEGIN_TB":
            if self.cta is not None:
                raise BadInput("#BEGIN_TB inside a thread block")
            self.cta, self.warp, self.left, self.warps = (), None, None, set()
            self.cluster = set()
            return None
        if self.cta is None:
            raise BadInput("expected #BEGIN_TB")
        if line == "#END_TB":
            self._end_of_warp()
            if self.cta == ():
                raise BadInput("#END_TB without `thread block`")
            self.cta = None
            return None
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            return self._instruction(line)
        if key == "thread block":
            if self.cta != ():
                raise BadInput("a second `thread block` line")
            self.cta = triple(value, key)
            self.header.check_cta(self.cta)
            if self.cta in self.blocks:
                raise BadInput(f"thread block {self.cta} for the second time")
            self.blocks.add(self.cta)
        elif key == "warp":
            self._end_of_warp()
            if self.cta == ():
                raise BadInput("`warp` before `thread block`")
            self.warp, self.left = decimal(value, key, 0), None
            self.header.check_warp(self.warp)
            if self.warp in self.warps:
                raise BadInput(f"warp {self.warp} for the second time")
            self.warps.add(self.warp)
        elif key == "insts":
            if self.warp is None or self.left is not None:
                raise BadInput("`insts` without `warp`")
            self.left = decimal(value, key, 0)
        elif key in ("cluster id", "cluster cta", "cluster rank") and self.header.version >= 6:
            if self.warp is not None or key in self.cluster:
                raise BadInput(f"`{key}` out of place")
            self.cluster.add(key)
            decimal(value, key, 0) if key == "cluster rank" else triple(value, key)
        else:
            raise BadInput(f"unknown line {line[:80]!r}")
        return None

    def _end_of_warp(self):
        if self.warp is not None and self.left is None:
            raise BadInput(f"no `insts` of warp {self.warp}")
        if self.left:
            raise BadInput(f"{self.left} instructions of warp {self.warp} are missing")

    def _instruction(self, line):
        if self.left is None:
            raise BadInput("an instruction before `insts`")
        if self.left == 0:
            raise BadInput("more instructions than `insts` says")
        self.left -= 1
        items = line.split()
        ids = 0
        if self.header.version < 3:
            ids = 4
            if items[:4] != [str(i) for i in (*self.cta, self.warp)]:
                raise BadInput("an instruction of another warp")
        return self.header.instruction(items, ids, self.warp)
