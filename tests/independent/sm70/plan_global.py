"""Plans of LD, LDG, LDG of 256 bits, LDS and LDSM."""

from .plan import low_bits

SIZE_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 8, 6: 16, 7: 16}
ORDERS_VT = [(1, 3)] * 4 + [(0, 3), (2, 0), (2, 2), (2, 3), (3, 3)]
ORDERS = [0] * 5 + [4, 5, 7, 10, 12]


def plan_modifiers(plan):
    """Chooses the modifiers that do not change what is loaded."""
    rng, sm = plan.rng, plan.sm
    plan.values["evict"] = rng.choice([1, 1, 1, 0, 2, 3, 4, 5])
    if sm.among("VT"):
        plan.values["order"], plan.values["scope"] = rng.choice(ORDERS_VT)
    else:
        plan.values["order"] = rng.choice(ORDERS)
    if not sm.among("V"):
        plan.values["prefetch"] = rng.choice([0, 0, 0, 1, 2] + [3] * (not sm.among("T")))


def plan_blocks(plan, reach, generic):
    """Plans the memory below `reach`; returns its areas and the addresses where they change."""
    rng = plan.rng
    areas, edges = [], []
    end = min(reach, 1 << plan.address_bits)
    if not generic or plan.chance(0.7):
        sizes = [rng.randrange(24, 160) for _ in range(rng.randrange(1, 3))]
        at = rng.choice([
            rng.randrange(16, min(end, 1 << 32) - 1024),
            rng.randrange(16, end - 1024) & ~15,
            rng.randrange(16, end - 1024),
            end - sum(sizes),
        ])  # fmt: skip
        blocks = []
        for size in sizes:
            if at + size > end:
                break
            blocks.append({"base": f"{at:#x}", "hex": rng.randbytes(size).hex()})
            areas.append((at, size))
            edges += [at, at + size]
            at += size + rng.choice([0, 0, 1, 7, 64])
        plan.memory["global"] = blocks
    if generic:
        base, size = plan.window("shared")
        if (plan.chance(0.5) or not areas) and base + size <= reach:
            amount = rng.randrange(16, 160)
            plan.memory["shared"] = {"hex": rng.randbytes(amount).hex()}
            areas.append((base, amount))
            edges += [base, base + amount, base + size]
        base, size = plan.window("local")
        if plan.chance(0.4) and base + size <= reach:
            areas += plan_local(plan, base, size)
            edges += [base, base + size] + [area[0] + area[1] for area in areas[-2:]]
    elif plan.chance(0.15):
        # What the generic windows hold, LDG does not see.
        plan.memory["shared"] = {"hex": rng.randbytes(32).hex()}
        edges += [plan.window("shared")[0] + 16, plan.window("local")[0] + 16]
    edges.append(1 << plan.address_bits)
    if not areas:
        areas.append((rng.randrange(16, end - 1024), 64))
    return areas, [edge for edge in edges if edge <= reach]


def plan_local(plan, base, size):
    """Plans local memory in a window; returns its areas."""
    rng = plan.rng
    low, high = rng.choice([16, 24, 32]), rng.choice([0, 16, 20])
    local = {"bytes_per_lane": low, "hex": rng.randbytes(32 * low).hex()}
    areas = [(base, low)]
    if high:
        local["high"] = {"bytes_per_lane": high, "hex": rng.randbytes(32 * high).hex()}
        areas.append((base + size - high, high))
    plan.memory["local"] = local
    return areas


def choose_form(plan, kind):
    rng, group = plan.rng, plan.sm.group
    if kind == "ldg256":
        return rng.choice(["u32", "u64", "descriptor", "descriptor"])
    forms = {"V": ["immediate"], "T": ["immediate", "u32", "u64"]}
    return rng.choice(forms.get(group, ["immediate", "u32", "u64", "descriptor", "descriptor"]))


def plan_global(plan, kind):
    """Plans an LD (`ld`), LDG (`ldg`) or LDG of 256 bits; returns the opcode."""
    rng, sm, values = plan.rng, plan.sm, plan.values
    form = choose_form(plan, kind)
    size_field = rng.choice([0, 1, 2, 3, 4, 5, 6] + [7, 7] * sm.among("VT"))
    size = 32 if kind == "ldg256" else SIZE_BYTES[size_field]
    extended = form != "immediate" or plan.chance(0.75)
    has_base = plan.chance(0.9)
    if kind == "ldg256":
        has_base = has_base or form == "descriptor"
    elif form == "u64" and sm.among("HB"):
        has_base = True
    plan.plan_settings()
    plan_modifiers(plan)
    if kind != "ldg256":
        values["size"] = size_field
        values["e"] = int(extended)
    width = 32 if kind == "ld" and form == "immediate" else 24
    reach = 1 << plan.address_bits
    if form == "immediate" and not (has_base and extended):
        reach = 1 << (32 if has_base else width)
    elif form == "descriptor" and not has_base:
        reach = 1 << 23
    zero_pair = form in ("u32", "u64") and plan.chance(0.1)
    if zero_pair and form == "u32":
        reach = 1 << 32
    areas, edges = plan_blocks(plan, reach, generic=kind == "ld")
    addresses = plan.targets(areas, size, edges)
    solve(plan, kind, form, has_base, zero_pair, addresses, width)
    plan_registers(plan, kind, size)
    if form == "descriptor" and sm.among("A"):
        values["shown"] = rng.randrange(2)
        if not values["shown"]:
            plan.note("hidden descriptor")
    plan.plan_lanes()
    if kind == "ldg256":
        return 0x97E
    return 0x980 if kind == "ld" else 0x381 if form == "immediate" else 0x981


def solve(plan, kind, form, has_base, zero_pair, addresses, width):
    """Chooses base, uniform base and offset so that their sums are `addresses`."""
    rng, values, urz = plan.rng, plan.values, plan.sm.urz
    wide = kind == "ldg256" or form != "immediate" or values["e"]
    offset = plan.offset(22 if kind == "ldg256" else width)
    if kind == "ldg256":
        offset -= offset % 32
    if not has_base:
        plan.note("no base")
        first = addresses[0]
        if form == "immediate":
            offset = first % (1 << width)
        elif form == "descriptor":
            offset = max(min(first, (1 << 23) - 1), -(1 << 23))
            if plan.chance(0.1):
                offset = -offset
        addresses = [first] * 32
    if kind == "ldg256":
        values |= {"wide": int(form != "u32")}
    elif form in ("u64", "descriptor"):
        values["wide"] = 1
    if form != "immediate":
        values["uniform"] = 1
    if form == "descriptor":
        values["descriptor"] = 1
        values["ur"] = plan.uniform_pair("descriptor in an odd register", 0.9)
        plan.set_uniform(values["ur"], rng.getrandbits(64))
    pair = 0
    if form in ("u32", "u64"):
        values["ur"] = urz if zero_pair else plan.uniform_pair("illegal uniform pair")
        if zero_pair:
            plan.note("URZ")
        elif not has_base:
            pair = (addresses[0] - offset) % (1 << 64)
        elif form == "u32":
            pair = (min(addresses) - offset - rng.choice([0, 64, rng.randrange(1 << 31)])) % (1 << 64)
        else:
            pair = rng.choice([rng.getrandbits(64), rng.randrange(1 << 16), addresses[0] % (1 << 64)])
        if not zero_pair:
            plan.set_uniform(values["ur"], pair)
    values["offset"] = offset // 32 if kind == "ldg256" else offset
    if not has_base:
        return
    double = wide and form != "u32"
    ra = rng.randrange(0, 254, 2) if double else rng.randrange(255)
    if double and plan.chance(0.04):
        ra = rng.choice([ra + 1, 254])
        plan.note("illegal base")
    values["ra"] = ra
    bases = [(address - pair - offset) % (1 << 64) for address in addresses]
    plan.registers[ra] = [low_bits(base, 32) for base in bases]
    if double and ra < 254:
        plan.registers[ra + 1] = [base >> 32 for base in bases]
    if double and any(base + pair + offset != address for base, address in zip(bases, addresses)):
        plan.note("wraps")


def plan_registers(plan, kind, size):
    """Chooses the destinations, what they hold and the register limit."""
    values = plan.values
    bases = sorted(plan.registers)
    if kind == "ldg256":
        count = 4
        while True:
            values["rd"], values["r1st"] = (plan.plan_destination(4, bases) for _ in range(2))
            if abs(values["rd"] - values["r1st"]) >= 4:
                break
        firsts = [values["rd"], values["r1st"]]
    else:
        count = max(1, size // 4)
        values["rd"] = plan.plan_destination(count, bases)
        firsts = [values["rd"]]
    used = bases + [first + count - 1 for first in firsts if first != 255]
    for first in firsts:
        if first != 255:
            plan.fill(first, count)
    if used:
        plan.plan_limit([min(register, 254) for register in used])


def plan_shared(plan):
    """Plans an LDS; returns the opcode."""
    rng, sm, values = plan.rng, plan.sm, plan.values
    size_field = rng.randrange(7)
    size = SIZE_BYTES[size_field]
    values["size"] = size_field
    plan.plan_settings()
    amount = rng.randrange(32, 320)
    plan.memory["shared"] = {"hex": rng.randbytes(amount).hex()}
    if sm.among("VT"):
        values["u"] = rng.randrange(2)
    scale = 0 if sm.among("V") else rng.choice([0, 0, 1, 2, 3])
    shift = scale + 1 if scale else 0
    uniform = not sm.among("V") and plan.chance(0.5)
    has_base = plan.chance(0.9)
    window = plan.window("shared")[0]
    addresses = plan.targets([(0, amount)], size, [0, amount, amount, 1 << 32, window % (1 << 32)])
    offset = plan.offset(24)
    values |= {"scale": scale} if scale else {}
    solve_32(plan, uniform, has_base, shift, addresses, offset, 24)
    plan_registers(plan, "lds", size)
    plan.plan_lanes()
    return 0x984


def solve_32(plan, uniform, has_base, shift, addresses, offset, width):
    """Chooses bases so that 32-bit sums are `addresses`, as near as the scale allows."""
    rng, values = plan.rng, plan.values
    ur = 0
    if uniform:
        values["uniform"] = 1
        values["ur"] = rng.choice([plan.sm.urz] + [rng.randrange(plan.sm.urz)] * 7)
        if values["ur"] != plan.sm.urz:
            ur = rng.choice([rng.getrandbits(32), rng.randrange(256)])
            if not has_base:
                ur = (addresses[0] - offset) % (1 << 32)
        else:
            plan.note("URZ")
        plan.set_uniform(values["ur"], ur, words=1)
    if not has_base:
        plan.note("no base")
        if not uniform:
            offset = addresses[0] % (1 << width)
        values["offset"] = offset
        return
    values["offset"] = offset
    values["ra"] = rng.randrange(255)
    if shift:
        # An offset that leaves a multiple of the scale where the first address is one.
        rest = (addresses[0] - ur - offset) % (1 << shift)
        if offset + rest < 1 << 23:
            values["offset"] = offset = offset + rest
    bases = []
    for address in addresses:
        base = ((address - ur - offset) % (1 << 32)) >> shift
        if shift and plan.chance(0.1):
            base |= rng.getrandbits(shift) << (32 - shift)
        bases.append(base)
    plan.registers[values["ra"]] = bases


def plan_matrices(plan):
    """Plans an LDSM of one, two or four matrices; returns the opcode."""
    rng, values = plan.rng, plan.values
    plan.plan_settings()
    count = rng.randrange(3)
    values |= {"count": count, "shape": rng.randrange(2)}
    rows = rng.choice([8 << count, (8 << count) + 1, rng.randrange(4, 20)])
    plan.memory["shared"] = {"hex": rng.randbytes(16 * rows).hex()}
    addresses = plan.targets([(0, 16 * rows)], 16, [0, 16 * rows])
    solve_32(plan, plan.chance(0.5), plan.chance(0.93), 0, addresses, plan.offset(24), 24)
    if "ra" not in values and not plan.sm.among("T") and values["offset"] >= 1 << 23:
        values["offset"] -= 1 << 24
    plan_registers(plan, "ldsm", 4 << count)
    plan.plan_lanes(whole=True)
    return 0x83B
