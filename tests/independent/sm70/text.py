"""The text of a load as nvdisasm prints it, without scheduling."""

EVICT = ".EF", "", ".EL", ".LU", ".EU", ".NA", ".INVALID6", ".INVALID7"
PREFETCH = "", ".LTC64B", ".LTC128B", ".LTC256B"
SIZES = ".U8", ".S8", ".U16", ".S16", "", ".64", ".128", ".INVALID7"
CONSTANT_SIZES = ".U8", ".S8", ".U16", ".S16", "", ".64", ".INVALID6", ".INVALID7"
ORDER_VT = ".CONSTANT", "", ".STRONG", ".MMIO"
SCOPE_VT = ".CTA", ".SM", ".GPU", ".SYS"
ORDER = (
    "", ".CONSTANT.PRIVATE", ".CONSTANT.CTA", ".CONSTANT.CTA.PRIVATE", ".CONSTANT", ".STRONG.SM",
    ".STRONG.GPU.PRIVATE", ".STRONG.GPU", ".MMIO.GPU", ".CONSTANT.SM", ".STRONG.SYS",
    ".CONSTANT.SM.PRIVATE", ".MMIO.SYS", ".CONSTANT.VC", ".CONSTANT.VC.PRIVATE", ".CONSTANT.GPU",
)  # fmt: skip
ORDER_RML2 = (
    ".???1.???0", ".???0.???0.PRIVATE", ".???0.???1", ".???0.???1.PRIVATE",
    ".STRONG.???2.PRIVATE", ".STRONG.???2", ".STRONG.GPU.PRIVATE", ".STRONG.GPU", ".???3.GPU",
    ".???0.???2", ".STRONG.???5", ".???0.???2.PRIVATE", ".???3.???5", ".???0.???3",
    ".???0.???3.PRIVATE", ".???0.GPU",
)  # fmt: skip
ORDER_LDGSTS = (
    "", ".CONSTANT.PRIVATE", ".CONSTANT.CTA", ".CONSTANT.CTA.PRIVATE", ".CONSTANT", ".MMIO.CTA",
    ".GPU.PRIVATE", ".MMIO.CTA.PRIVATE", ".MMIO.SM", ".CONSTANT.SM", ".MMIO.VC",
    ".CONSTANT.SM.PRIVATE", ".MMIO.GPU", ".CONSTANT.VC", ".CONSTANT.VC.PRIVATE", ".CONSTANT.GPU",
)  # fmt: skip
LDC_MODES = "", ".IL", ".IS", ".ISL"
SCALES = "", ".X4", ".X8", ".X16"
POLICY = ".EFL2", ".ENL2", ".ELL2", ".INVALID3"
UNPACK = "", ".TEXUNPACK", ".HDRUNPACK", ".INVALID3"
SHAPES = ".M88", ".MT88", ".M816", ".M832", ".MT1616", ".INVALID5", ".INVALID6", ".INVALID7"
LDSM_SIZES = {0: ".16", 5: ".INVALID5", 6: ".INVALID6", 7: ".INVALID7"}
LDSM_SIZES_B = {0: ".16", 1: ".U4TO8", 5: ".U4x16P64TO8", 6: ".U6x16P32TO8", 7: ".8"}
LDSM_COUNTS = "", ".2", ".4", ".INVALID3"
LDGSTS_SIZES = ".INVALID0", ".INVALID1", ".INVALID2", ".INVALID3", "", ".64", ".128", ".INVALID7"
LDGSTS_SIZES_B = "", ".64", ".128", ".INVALID3"
LDTM_SHAPES = (
    ".16dp128bit", ".16dp256bit", "", ".16dp64bit", ".16dp32bit_t0_t15", ".16dp32bit_t16_t31",
    ".INVALID6", ".INVALID7",
)  # fmt: skip
STAT_SHAPES = ".INVALID0", ".INVALID1", "", ".INVALID3", *LDTM_SHAPES[4:]
STAT_OPS = ".MAX", ".MAXABS", ".MIN", ".MINABS"
STAT_TYPES = "", ".S32", ".F32", ".INVALID3"


def register(number):
    return "RZ" if number == 255 else f"R{number}"


def uniform(sm, number):
    return "URZ" if number == sm.urz else f"UR{number}"


def predicate(number, negated=0, prefix=""):
    return "!" * negated + prefix + ("PT" if number == 7 else f"P{number}")


def number(value):
    return f"-{-value:#x}" if value < 0 else f"{value:#x}"


def terms(*bases, offset, zero="RZ"):
    """Returns `base+base+offset`; the offset is left out if 0, and stands alone without a base."""
    named = [base for base in bases if base]
    if not named:
        return number(offset) if offset else zero
    return "+".join(named + [number(offset)] * (offset != 0))


def text(load):
    """Returns the load's text; `None` if the disassembler prints no line for it."""
    body = WRITERS[load.kind](load)
    if body is None:
        return None
    guard = predicate(load.get("guard"), load.get("guard_not"))
    if load.kind.startswith(("uldc", "ldcu", "ldtm")):
        guard = predicate(load.get("guard"), load.get("guard_not"), "U")
    return body if guard in ("PT", "UPT") else f"@{guard} {body}"


def _pin(load, inverted=True):
    """Returns the predicate read, with the comma before it; empty for PT."""
    name = predicate(7 - load.get("pin") if inverted else load.get("pin"), load.get("pin_not"))
    return "" if name == "PT" else f", {name}"


def _pd(load, always):
    value = load.get("pd")
    return "" if value == 7 and not always else f"{predicate(value)}, "


def _descriptor(load, inside):
    """Returns `desc[UR][inside]`; without the descriptor where group A hides it."""
    if load.sm.among("A") and not load.get("shown"):
        return f"[{inside}]"
    return f"desc[{uniform(load.sm, load.get('ur'))}][{inside}]"


def _global_address(load):
    ra, offset, form = load.get("ra"), load.offset, load.form
    if form == "immediate":
        return f"[{terms(load.has_base and register(ra), offset=offset)}]"
    if form == "descriptor":
        return _descriptor(load, terms(f"{register(ra)}.64", offset=offset))
    base = f"{register(ra)}.{'64' if form == 'u64' else 'U32'}"
    if not load.has_base:
        if load.kind == "ldg256" or load.sm.among("TA"):
            base = None
        elif form == "u64":
            base = "???255.64"
    return f"[{terms(base, uniform(load.sm, load.get('ur')), offset=offset)}]"


def _ld(load):
    sm = load.sm
    extended = ".E" * load.get("e")
    if load.form in ("u64", "descriptor") and not load.get("e"):
        if load.form == "descriptor" or load.has_base or not sm.among("TA"):
            extended = ".???0"
    prefetch = PREFETCH[load.get("prefetch")]
    if sm.among("T") and load.get("prefetch") == 3:
        prefetch = ".INVALID3"
    size = SIZES[load.get("size")]
    if sm.among("VT"):
        if load.get("size") == 7:
            size = ".U.128"
        order = ORDER_VT[load.get("order")] + SCOPE_VT[load.get("scope")]
        order += ".PRIVATE" * load.get("private") + ".ZD" * load.get("zd")
    else:
        order = ORDER[load.get("order")]
    zd = load.get("zd")
    pd = _pd(load, zd) if load.kind == "ldg" or zd else ""
    pin = _pin(load) if not sm.among("V") else ""
    modifiers = extended + EVICT[load.get("evict")] + prefetch + size + order
    return f"{load.name}{modifiers} {pd}{register(load.get('rd'))}, {_global_address(load)}{pin}"


def _ldg256(load):
    policy, order = POLICY[load.get("policy")], ORDER[load.get("order")]
    if load.sm.is_12 and load.get("policy") == 3:
        policy, order = ".RML2", ORDER_RML2[load.get("order")]
    modifiers = ".E" + EVICT[load.get("evict")] + policy + PREFETCH[load.get("prefetch")]
    registers = f"{register(load.get('r1st'))}, {register(load.get('rd'))}"
    mask = _mask(load)
    return f"LDG{modifiers}.256{order} {registers}, {_global_address(load)}{mask}{_pin(load)}"


def _mask(load):
    return "" if load.get("mask") == 0xFF else f", {load.get('mask'):#x}"


def _ldl(load):
    ra, offset, form = load.get("ra"), load.offset, load.form
    base = load.has_base and register(ra)
    if form == "immediate":
        address = f"[{terms(base, offset=offset)}]"
    elif form == "uniform":
        address = f"[{terms(base, uniform(load.sm, load.get('ur')), offset=offset)}]"
    else:
        address = _descriptor(load, terms(register(ra), offset=offset))
    modifiers = EVICT[load.get("evict")] + SIZES[load.get("size")]
    return f"LDL{modifiers} {register(load.get('rd'))}, {address}"


def _shared_address(load, scale=""):
    base = load.has_base and register(load.get("ra")) + scale
    if load.form == "immediate":
        return f"[{terms(base, offset=load.offset)}]"
    if scale and not base:
        base = "RZ" + scale
    return f"[{terms(base, uniform(load.sm, load.get('ur')), offset=load.offset)}]"


def _lds(load):
    size = SIZES[load.get("size")]
    if load.get("size") == 7:
        size = ".???7"
    zd = load.get("zd")
    pd = _pd(load, True) if zd else ""
    modifiers = ".U" * load.get("u") + size + ".ZD" * zd
    address = _shared_address(load, SCALES[load.get("scale")])
    return f"LDS{modifiers} {pd}{register(load.get('rd'))}, {address}"


def _ldsm(load):
    sizes = LDSM_SIZES_B if load.sm.among("B") else LDSM_SIZES
    size = sizes.get(load.get("size"))
    if size is None:
        return None
    modifiers = size + SHAPES[load.get("shape")] + LDSM_COUNTS[load.get("count")]
    return f"LDSM{modifiers} {register(load.get('rd'))}, {_shared_address(load)}"


def _ldc(load):
    modifiers = CONSTANT_SIZES[load.get("size")] + LDC_MODES[load.get("mode")]
    base = load.has_base and register(load.get("ra"))
    if load.kind == "ldc":
        bank = f"c[{load.get('bank'):#x}]"
        inside = terms(base, offset=load.offset)
    else:
        bank = f"cx[{uniform(load.sm, load.get('ur'))}]"
        inside = terms(base, offset=load.offset, zero="0x0")
    return f"LDC{modifiers} {register(load.get('rd'))}, {bank}[{inside}]"


def _uldc(load):
    sm, pin = load.sm, ""
    ur = uniform(sm, load.get("ur"))
    if load.kind == "uldc":
        bank = f"cx[{ur}]" if load.get("uniform") else f"c[{load.get('bank'):#x}]"
        address = f"{bank}[{number(load.offset)}]"
    elif load.kind == "uldc_ur":
        address = f"c[{load.get('bank'):#x}][{terms(ur, offset=load.offset)}]"
    elif ur == "URZ":
        address = f"[{number(load.offset)}]"
    else:
        address = f"[{terms(ur, offset=load.offset)}]"
        pin = f", {predicate(load.get('upin'), load.get('upin_not'), 'U')}"
    destination = uniform(sm, load.get("rd"))
    return f"ULDC{CONSTANT_SIZES[load.get('size')]} {destination}, {address}{pin}"


def _ldcu(load):
    sm = load.sm
    wide = load.kind.startswith("ldcu256")
    ur = uniform(sm, load.get("ur"))
    if load.kind.endswith("_cx"):
        index = load.get("rb") != sm.urz and uniform(sm, load.get("rb"))
        if index and not sm.has_ldcu_256:
            index = f"???{load.get('rb')}"
        address = f"cx[{ur}][{terms(index, offset=load.offset, zero='URZ')}]"
    else:
        inside = terms(ur != "URZ" and ur, offset=load.offset, zero="URZ")
        address = f"[{inside}]"
        if not load.kind.endswith("_mem"):
            address = f"c[{load.get('bank'):#x}]{address}"
    pin = ""
    if load.kind.endswith("_mem"):
        pin = f", {predicate(load.get('upin'), load.get('upin_not'), 'U')}"
    destination = uniform(sm, load.get("rd"))
    if wide:
        first = uniform(sm, load.get("r1st"))
        return f"LDCU.256 {first}, {destination}, {address}{_mask(load)}{pin}"
    modifiers = SIZES[load.get("size")] + UNPACK[load.get("unpack")]
    return f"LDCU{modifiers} {destination}, {address}{pin}"


def _ldgsts(load):
    sm, ur = load.sm, load.get("ur")
    shared_base = load.get("rd") != 255 and register(load.get("rd"))
    base = register(load.get("ra")) + (".64" if load.get("wide") else ".U32")
    offset = load.get("global_offset")
    if load.kind == "ldgsts_global":
        shared = terms(shared_base, offset=load.offset)
        name = ur != sm.urz and uniform(sm, ur)
        inside = terms(base, offset=offset)
        if load.get("descriptor"):
            address = _descriptor(load, inside)
        else:
            address = f"[{terms(base, name, offset=offset)}]"
    else:
        shared = terms(shared_base, uniform(sm, ur), offset=load.offset)
        address = f"[{terms(base, offset=offset)}]"
        if load.get("descriptor") and (load.get("shown") or not sm.among("A")):
            address = f"desc[{uniform(sm, min(ur + 1, sm.urz))}]{address}"
    sizes = LDGSTS_SIZES_B if sm.among("B") else LDGSTS_SIZES
    modifiers = (
        ".E" + ".BYPASS" * (1 - load.get("no_bypass")) + EVICT[load.get("evict")]
        + PREFETCH[load.get("prefetch")] + sizes[load.get("size")] + ".ZFILL" * load.get("zfill")
        + ORDER_LDGSTS[load.get("order")]
    )  # fmt: skip
    return f"LDGSTS{modifiers} [{shared}], {address}{_pin(load, inverted=False)}"


def _ldtm(load):
    sm, count = load.sm, load.get("count")
    ur = load.get("ur") != sm.urz and uniform(sm, load.get("ur"))
    address = f"tmem[{terms(ur, offset=load.offset, zero='URZ')}]"
    destination = register(load.get("rd"))
    if load.kind == "ldtm":
        times = f".x{1 << count}" if count else ""
        pack = ".PACK16BIT" * load.get("pack")
        return f"LDTM{LDTM_SHAPES[load.get('shape')]}{times}{pack} {destination}, {address}"
    times = f".x{1 << count}" if count else ".INVALID0"
    modifiers = STAT_SHAPES[load.get("shape")] + times + STAT_OPS[load.get("op")]
    modifiers += STAT_TYPES[load.get("type")] + ".NAN" * load.get("nan")
    return f"LDTM.STAT{modifiers} {register(load.get('ra'))}, {destination}, {address}"


WRITERS = {
    "ld": _ld,
    "ldg": _ld,
    "ldg256": _ldg256,
    "ldl": _ldl,
    "lds": _lds,
    "ldc": _ldc,
    "ldc_cx": _ldc,
    "uldc": _uldc,
    "uldc_ur": _uldc,
    "uldc_mem": _uldc,
    "ldcu": _ldcu,
    "ldcu_cx": _ldcu,
    "ldcu_mem": _ldcu,
    "ldcu256": _ldcu,
    "ldcu256_cx": _ldcu,
    "ldcu256_mem": _ldcu,
    "ldsm": _ldsm,
    "ldgsts_global": _ldgsts,
    "ldgsts_shared": _ldgsts,
    "ldtm": _ldtm,
    "ldtm_stat": _ldtm,
}
