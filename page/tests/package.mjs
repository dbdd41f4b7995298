// Uses the package like a user: in node, which loads it from a file.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { banks, decode, initSync, sms } from "warpload";

initSync({ module: await readFile(new URL(import.meta.resolve("warpload/warpload_bg.wasm"))) });
assert.ok(sms().includes("90"));
const { loads } = decode({ sm: "80", input: "0x000ea8000c1e19000000100404007981" });
assert.equal(loads[0].load.text, "LDG.E R0, [R4.64+0x10]");
assert.match(banks({ access: "lane * 128", bytes: "4", space: "shared" }).result, /31 of them bank conflicts/);
// Fields must be text.
assert.throws(() => decode({ sm: 80 }), /expected a string/);
assert.throws(() => decode(undefined), /EOF/);
