"""Plans of LDL and of the loads from constant memory."""

from .plan_global import SIZE_BYTES, plan_local, plan_registers, solve_32


def plan_ldl(plan):
    """Plans an LDL; returns the opcode."""
    rng, sm, values = plan.rng, plan.sm, plan.values
    size_field = rng.randrange(7)
    values |= {"size": size_field, "evict": rng.choice([1, 1, 0, 2, 3, 4, 5])}
    plan.plan_settings()
    window = plan.window("local")[1]
    areas = plan_local(plan, 0, window)
    edges = [0, window, 1 << 32] + [start + size for start, size in areas]
    forms = {"V": ["immediate"], "T": ["immediate", "uniform"]}
    form = rng.choice(forms.get(sm.group, ["immediate", "uniform", "descriptor"]))
    has_base = plan.chance(0.85)
    addresses = plan.targets(areas, SIZE_BYTES[size_field], edges)
    offset = plan.offset(24)
    if form == "descriptor":
        if not has_base:
            offset = min(max(addresses[0], -(1 << 23)), (1 << 23) - 1)
        values |= {"descriptor": 1, "uniform": 1}
        values["ur"] = plan.uniform_pair("descriptor in an odd register", 0.9)
        plan.set_uniform(values["ur"], rng.getrandbits(64))
        values["offset"] = offset
        if has_base:
            values["ra"] = rng.randrange(255)
            plan.registers[values["ra"]] = [(a - offset) % (1 << 32) for a in addresses]
        else:
            plan.note("no base")
        if sm.among("A"):
            values["shown"] = rng.randrange(2)
            if not values["shown"]:
                plan.note("hidden descriptor")
    else:
        solve_32(plan, form == "uniform", has_base, 0, addresses, offset, 24)
    plan_registers(plan, "ldl", SIZE_BYTES[size_field])
    plan.plan_lanes()
    return 0x983


def plan_bank(plan):
    """Plans a bank of constant memory, or leaves it out; returns its size."""
    rng, bank = plan.rng, plan.rng.randrange(32)
    plan.values["bank"] = bank
    amount = rng.randrange(48, 256)
    if plan.chance(0.06):
        plan.note("another bank")
        bank = (bank + 1) % 32
    plan.memory["constant"] = [{"bank": bank, "hex": rng.randbytes(amount).hex()}]
    return amount


def plan_ldc(plan):
    """Plans an LDC; returns the opcode."""
    values = plan.values
    values["size"] = plan.rng.randrange(6)
    plan.plan_settings()
    amount = plan_bank(plan)
    size = SIZE_BYTES[values["size"]]
    addresses = plan.targets([(0, amount)], size, [0, amount, 1 << 32])
    offset = plan.offset(16)
    has_base = plan.chance(0.8)
    if not has_base:
        addresses = [addresses[0] if addresses[0] < 1 << 15 else -4] * 32
    solve_32(plan, False, has_base, 0, addresses, offset, 15)
    if not has_base and plan.chance(0.1):
        values["offset"] = -plan.rng.randrange(1, 1 << 15)
    plan_registers(plan, "ldc", size)
    plan.plan_lanes()
    return 0xB82


def plan_uniform(plan):
    """Plans an ULDC or LDCU, whichever the SM has; returns the opcode."""
    rng, sm, values = plan.rng, plan.sm, plan.values
    blackwell = sm.among("B")
    plan.plan_settings()
    amount = plan_bank(plan)
    wide = sm.has_ldcu_256 and plan.chance(0.25)
    indexed = blackwell or plan.chance(0.6)
    if wide:
        size, count = 32, 4
    else:
        values["size"] = rng.randrange(7 if blackwell else 6)
        size = SIZE_BYTES[values["size"]]
        count = max(1, size // 4)
    address = plan.targets([(0, amount)], size, [0, amount, 1 << 32])[0]
    for label in ("lane by lane", "strided", "random", "mixed", "same"):
        if label in plan.about:
            plan.about.remove(label)
    half = 1 << (16 if blackwell else 15)
    offset = plan.offset(17 if blackwell else 16)
    has_base = indexed and plan.chance(0.7)
    if not has_base:
        plan.note("no base")
        offset = address if address < half else -4
        if indexed:
            values["ur"] = sm.urz
    values["offset"] = offset
    if has_base:
        values["ur"] = rng.randrange(sm.urz)
        plan.set_uniform(values["ur"], (address - offset) % (1 << 32), words=1)
    first = values["rd"] = uniform_destination(plan, count)
    if wide:
        while True:
            values["r1st"] = uniform_destination(plan, count)
            if abs(values["r1st"] - first) >= 4:
                break
    for number in [first, values["r1st"]] if wide else [first]:
        if plan.chance(0.5) and number != sm.urz:
            for register in range(number, min(number + count, sm.urz)):
                plan.uniform.setdefault(register, rng.getrandbits(32))
    plan.plan_lanes(uniform=True)
    if blackwell:
        return 0xDAC if wide else 0x7AC
    return 0xABB if indexed else 0xAB9


def uniform_destination(plan, count):
    """Returns the number of a uniform destination register, mostly legal."""
    rng, urz = plan.rng, plan.sm.urz
    if plan.chance(0.05):
        plan.note("URZ destination")
        return urz
    if plan.chance(0.08) and count > 1:
        plan.note("illegal destination")
        return rng.choice([rng.randrange(1, urz - 8, 2), urz - urz % count])
    if "ur" in plan.values and plan.values["ur"] != urz and plan.chance(0.2):
        plan.note("destination overlaps base")
        register = plan.values["ur"] - plan.values["ur"] % count
        if register + count <= urz:
            return register
    return rng.randrange(0, urz - count, count)
