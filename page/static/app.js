// Shows answers of the library in the page. Text is inserted as text rather than as markup, because it may come from a
// link. Only pictures are markup: the library escapes the text in them.
"use strict";

/** The limit on the length of a link, because browsers and messengers cut longer ones. */
const MAX_LINK = 16000;
/** The history state of a form that is too long for a link. The form itself is kept instead. */
const KEPT = "kept";

const $ = id => document.getElementById(id);
const panelOf = tool => $(`panel-${tool}`);
const panels = [...document.querySelectorAll("[role=tabpanel]")];
const tabs = [...document.querySelectorAll("[role=tab]")];

/** Creates an element. Its children are elements and text. */
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== false && value != null) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter(child => child != null && child !== ""));
  return element;
}

const plural = (count, one) => `${count} ${one}${count === 1 ? "" : "s"}`;

/** A table that scrolls on its own. Its name is for screen readers. */
function table(name, headings, rows) {
  const head = el("tr", {}, headings.map(heading => el("th", { scope: "col" }, heading)));
  return el("div", { class: "scroll", role: "region", tabindex: "0", "aria-label": name },
    el("table", {}, el("thead", {}, head), el("tbody", {}, rows)));
}

const row = (first, ...cells) =>
  el("tr", {}, el("th", { scope: "row" }, first), cells.map(cell => el("td", {}, cell)));

const code = text => el("code", {}, text);

const list = remarks => remarks.length
  ? el("ul", { class: "remarks" }, remarks.map(remark => el("li", {}, remark)))
  : null;

/** A picture in a shadow root, because its style sheet must not affect the rest of the page. */
function picture(svg, name) {
  const frame = el("div", { class: "scroll picture", role: "region", tabindex: "0", "aria-label": name });
  const holder = el("div");
  holder.attachShadow({ mode: "open" }).innerHTML = `${svg}<style>svg{display:block}</style>`;
  frame.append(holder);
  return frame;
}

const asText = text => el("details", {}, el("summary", {}, "The picture as text"), el("pre", {}, text));

/** The bits of a word, divided into fields. */
function bits(fields) {
  const blocks = fields.map(field => {
    const [high, low = high] = field.bits.split(":").map(Number);
    const digits = BigInt(field.raw).toString(2).padStart(high - low + 1, "0");
    return el("span", { class: field.name === "-" ? "idle" : null, title: `${field.name}: ${field.meaning}` },
      el("b", {}, digits), el("i", {}, field.name), el("small", {}, field.bits));
  });
  return el("div", { class: "bits", "aria-hidden": "true" }, blocks);
}

function fieldTable(name, fields) {
  const rows = fields.map(field =>
    row(field.bits, field.name, code(field.raw), field.meaning, field.purpose));
  return table(name, ["bits", "field", "number", "meaning", "purpose"], rows);
}

function control(slot) {
  if (!slot) return null;
  const notation = (name, text) => [el("dt", {}, name), el("dd", {}, code(text))];
  return el("div", {}, el("h4", {}, "Control code"), el("dl", {},
    notation("CuAssembler", slot.cuassembler), notation("maxas", slot.maxas), notation("nvdisasm", slot.nvidia)));
}

/** Links that open the same load in other tools. */
function elsewhere({ word, sm, text, control: slot }, tool) {
  const scheduling = slot?.fields.length ? `&control=${slot.slot}` : "";
  const link = (name, field, label) => name === tool ? null
    : el("a", { href: `#${name}&${field}=${word}&sm=${withoutLetter(sm)}${name === "encode" ? scheduling : ""}` }, label);
  const isTensor = /\bLDTM\b/.test(text);
  return el("p", { class: "examples" }, link("decode", "input", "Explain it"), link("encode", "word", "Edit it"),
    isTensor ? link("tensor", "instruction", "See its cells") : link("run", "instruction", "Run it"));
}

/** The meaning of every bit of a load. `place` is the load's function and offset. */
function explained(load, tool, place) {
  return [
    el("p", { class: "word" }, code(load.word), ` SM ${dotted(load.sm)}`, place ? `, ${place}` : ""),
    el("p", { class: "effect" }, load.effect),
    list(load.remarks),
    elsewhere(load, tool),
    bits(load.fields),
    fieldTable(`Fields of ${load.text}`, load.fields),
    control(load.control),
    load.control?.fields.length
      ? fieldTable("Fields of the control slot", load.control.fields) : null,
  ];
}

const tools = {
  decode: {
    status: answer => `${plural(answer.count, "load")} in ${plural(answer.instructions, "instruction")}`
      + (answer.count > answer.loads.length ? `; the first ${answer.loads.length} are shown` : ""),
    show: answer => {
      const one = answer.loads.length === 1;
      return answer.loads.map(({ function: name, offset, load }) => {
        const place = [name, offset].filter(Boolean).join(" + ");
        if (one) return el("article", {}, el("h3", {}, code(load.text)), explained(load, "decode", place).filter(Boolean));
        const details = el("details", {}, el("summary", {}, place ? `${place}: ` : "", code(load.text)));
        // Created when it is opened, because few loads of a long listing are.
        details.addEventListener("toggle", () => {
          if (details.childElementCount === 1) details.append(...explained(load, "decode", place).filter(Boolean));
        });
        return details;
      });
    },
  },

  encode: {
    status: answer => answer.load.word ? `${answer.load.word}: ${answer.load.text}` : "",
    show: answer => {
      if (!answer.load.word) return [];
      const { load } = answer;
      const slot = answer.control.length > 0;
      return [
        el("p", { class: "effect" }, load.effect),
        list([...answer.remarks, ...load.remarks]),
        elsewhere(load, "encode"),
        bits(load.fields),
        editor(`Fields of ${load.text}`, answer.fields, ""),
        control(load.control),
        slot ? editor("Fields of the control slot", answer.control, "control ") : null,
      ];
    },
  },

  run: {
    status: answer => answer.load.text
      ? `${answer.load.text}: ${answer.access?.result || "no lane loads"}`
        + (answer.faults.length ? `; ${plural(answer.faults.length, "fault")}` : "") : "",
    show: answer => {
      if (!answer.load.text) return [];
      const base = answer.base || "no register: the load has no base";
      const rows = answer.addresses.map((address, lane) => row(String(lane), code(address || "–"),
        ...answer.registers.map(({ values }) => code((values.length === 1 ? values[0] : values[lane]) || "–"))));
      return [
        el("p", { class: "effect" }, answer.load.effect),
        el("p", {}, "The formula is the value of ", code(base), ". Every address is allocated; the bytes are a hash of it."),
        answer.faults.length
          ? el("div", { class: "faults", role: "region", tabindex: "0", "aria-label": "Faults" },
            el("h4", {}, "Faults"), list(answer.faults)) : null,
        answer.access?.svg ? picture(answer.access.svg, "The access, drawn") : null,
        answer.access?.text ? asText(answer.access.text) : null,
        table("Addresses and values of the lanes",
          ["lane", "address", ...answer.registers.map(register => register.name)], rows),
        el("details", {}, el("summary", {}, "What the bits of the load mean"), explained(answer.load, "run")),
      ];
    },
  },

  banks: {
    status: answer => answer.result,
    show: answer => {
      const most = Math.max(1, ...answer.values.map(({ amount }) => amount));
      const chart = answer.values.map(({ value, amount, result }) => {
        const bar = el("span", { class: "bar", "aria-hidden": "true" });
        bar.style.width = `${8 * amount / most}em`;
        return row(String(value), [bar, ` ${amount}`], result);
      });
      return [
        list(answer.remarks),
        answer.svg ? picture(answer.svg, "The access, drawn") : null,
        answer.text ? asText(answer.text) : null,
        chart.length ? table("The cost for each value", ["value", "cost", "in words"], chart) : null,
        answer.addresses.length
          ? el("details", {}, el("summary", {}, "Addresses of the lanes"),
            table("Addresses of the lanes", ["lane", "address"],
              answer.addresses.map((address, lane) => row(String(lane), code(address || "–"))))) : null,
      ];
    },
  },

  tensor: {
    status: answer => answer.text.split("\n", 2).join(": "),
    show: answer => answer.svg
      ? [picture(answer.svg, "The cells, drawn"), asText(answer.text)] : [],
  },

  ptx: {
    status: answer => answer.problems.length
      ? "" : `${plural(answer.legal, "legal load")}, ${answer.illegal} illegal`,
    show: (answer, { source }) => {
      if (!answer.verdicts.length) return [];
      return [
        marked(source, answer.verdicts.flatMap(({ violations }) => violations)),
        el("ul", { class: "verdicts" }, answer.verdicts.map(({ line, accept, text, violations }) => el("li", {},
          el("strong", { class: accept ? "legal" : "illegal" }, accept ? "legal" : "illegal"),
          ` line ${line}: `, code(text),
          violations.map(({ drawing }) => el("pre", {}, drawing))))),
      ];
    },
  },
};

/** The source with its errors underlined. Of overlapping errors, only the first is marked. */
function marked(source, violations) {
  const lines = el("pre", { class: "source scroll", tabindex: "0", role: "region", "aria-label": "The module, with rules underlined" });
  let at = 0;
  for (const { start, end, rule, error } of [...violations].sort((one, other) => one.start - other.start)) {
    if (start < at) continue;
    lines.append(source.slice(at, start));
    // An error at the end of a line gets a space, because a line break cannot be underlined.
    const text = source.slice(start, Math.max(end, start + 1));
    lines.append(el("mark", { title: `${rule}: ${error}` }, text.trim() ? text : ` ${text}`));
    at = Math.max(end, start + 1);
  }
  lines.append(source.slice(at));
  return lines;
}

/** A table of fields to edit. */
function editor(name, fields, prefix) {
  const rows = fields.map(field => {
    const id = `field-${prefix}${field.bits}`.replace(/\W/g, "-");
    const label = `${field.name === "-" ? "reserved" : field.name}, bits ${field.bits}`;
    let input = code(field.raw);
    if (field.choices.length) {
      input = el("select", { id, "aria-label": label }, field.choices.map(choice => el("option",
        { value: choice.value, selected: choice.value === field.raw, disabled: !choice.is_legal },
        Number(choice.meaning) === Number(choice.value) ? choice.meaning : `${choice.value} ${choice.meaning}`)));
    } else if (!field.is_fixed) {
      input = el("input", { id, "aria-label": label, value: field.raw, size: 12, spellcheck: "false", autocomplete: "off" });
    }
    input.addEventListener("change", () => {
      change("encode", { bits: prefix + field.bits, value: input.value });
      $(id)?.focus();
    });
    return row(field.bits, field.name, input, field.meaning, field.purpose);
  });
  return table(name, ["bits", "field", "number", "meaning", "purpose"], rows);
}

/** Removes the letter of an SM, because menus list SMs without it. SM 9.0a has the same loads as 9.0. */
const withoutLetter = sm => sm.replace(/[af]$/, "");
const dotted = sm => sm.replace(/^(\d+)(\d)/, "$1.$2");

/** The fields of a form, as text. */
function fieldsOf(tool) {
  return Object.fromEntries(new FormData(panelOf(tool).querySelector("form")));
}

/** The field that was edited last, text or word. The other one is computed from it. */
let typed = "text";

/** The fields of a request. It leaves out the text or the word, if the other was typed and they may contradict. */
function meant(tool, fields) {
  if (tool !== "encode") return fields;
  const { sm, text, word, control } = fields;
  if (typed === "word") return { sm, word, control };
  if (typed === "sm") return { sm, text, control };
  return { sm, text, word, control };
}

/** The problems of an answer. Their fields are marked as invalid, also for screen readers. */
function problems(form, found) {
  for (const input of form.elements) input.removeAttribute("aria-invalid");
  return found.map(({ field, title, drawing, help }) => {
    form.elements[field]?.setAttribute("aria-invalid", "true");
    return el("div", { class: "problem" }, drawing ? el("pre", {}, drawing) : el("p", {}, title),
      help ? el("p", {}, `Help: ${help}`) : null);
  });
}

/** Calls the tool and shows its answer. Returns the answer, or null if the library failed. */
function update(tool, fields) {
  const panel = panelOf(tool);
  let answer;
  try {
    answer = wasm_bindgen[tool](fields);
  } catch (error) {
    panel.querySelector("[role=status]").textContent = `The library failed: ${error}. Please reload the page.`;
    return null;
  }
  const { status, show } = tools[tool];
  const wrong = answer.problems.length;
  const shown = show(answer, fields).filter(Boolean);
  panel.querySelector(".answer").replaceChildren(...problems(panel.querySelector("form"), answer.problems), ...shown);
  panel.querySelector("[role=status]").textContent =
    wrong && !shown.length ? answer.problems[0].title : status(answer);
  return answer;
}

/** Shows the answer to a form. `edit` is a change of a field of the instruction, which has no input in the form. */
function change(tool, edit = {}) {
  if (edit.bits) typed = "word";
  const form = panelOf(tool).querySelector("form");
  const answer = update(tool, { ...meant(tool, fieldsOf(tool)), ...edit });
  if (tool === "encode") follow(form, answer, !!edit.bits);
  link(tool);
}

/** Updates the fields of the encoder that the user did not type. */
function follow(form, answer, isEdit) {
  const { text, word, control } = form.elements;
  const load = answer?.load;
  control.disabled = Number.parseInt(form.elements.sm.value, 10) >= 70;
  if (!load?.word) {
    if (!isEdit && typed !== "word") word.value = "";
    if (!isEdit && typed === "word") text.value = "";
    return;
  }
  if (document.activeElement !== text) text.value = load.text;
  if (document.activeElement !== word) word.value = load.word;
  if (document.activeElement !== control) control.value = control.disabled ? "" : load.control.slot;
}

const isDefault = input => input.type === "checkbox" ? input.checked === input.defaultChecked
  : input.tagName === "SELECT" ? input.options[input.selectedIndex]?.defaultSelected
  : input.value === input.defaultValue;

/** Puts the form into the address, so that a link to it shows the same answer. */
function link(tool) {
  const form = panelOf(tool).querySelector("form");
  const shown = [...form.elements].filter(input => input.name && !input.disabled);
  const isWord = tool === "encode" && form.elements.word.value;
  const kept = shown.filter(input => tool === "encode"
    ? input.name === "sm" || input.name === (isWord ? "word" : "text") || isWord && input.name === "control"
    : !isDefault(input));
  const pairs = kept.map(input =>
    `&${input.name}=${encodeURIComponent(input.type === "checkbox" ? (input.checked ? "on" : "") : input.value)}`);
  const fragment = `#${tool}${pairs.join("")}`;
  const isLong = fragment.length > MAX_LINK;
  $("copy").disabled = isLong;
  $("copy").textContent = isLong ? "Too long for a link" : "Copy link";
  try {
    history.replaceState(isLong ? KEPT : null, "", isLong ? `#${tool}` : fragment);
  } catch { /* Safari allows a hundred in half a minute; the next one sets it. */ }
}

function select(tool) {
  for (const tab of tabs) {
    const isSelected = tab.id === `tab-${tool}`;
    tab.setAttribute("aria-selected", isSelected);
    tab.tabIndex = isSelected ? 0 : -1;
  }
  for (const panel of panels) panel.hidden = panel !== panelOf(tool);
  document.title = `${$(`tab-${tool}`).textContent} – warpload`;
}

/** Fills the form from the address, and selects its tool. */
function open() {
  const [name, ...pairs] = location.hash.slice(1).split("&");
  const tool = Object.hasOwn(tools, name) ? name : "decode";
  const form = panelOf(tool).querySelector("form");
  if (history.state !== KEPT) {
    form.reset();
    typed = "text";
  }
  for (const pair of pairs) {
    const [key, value = ""] = pair.split("=", 2);
    const input = form.elements[key];
    if (!(input instanceof Element)) continue;
    let text = value;
    try { text = decodeURIComponent(value); } catch { /* An escape that is none stays as it is. */ }
    if (input.type === "checkbox") input.checked = text !== "";
    else input.value = input.name === "sm" ? withoutLetter(text) : text;
    if (tool === "encode" && key === "word") {
      typed = "word";
      form.elements.text.value = "";
    }
  }
  select(tool);
  change(tool);
}

function start() {
  for (const menu of document.querySelectorAll("select[name=sm]")) {
    for (const sm of wasm_bindgen.sms()) {
      const isDefault = sm === menu.dataset.default;
      menu.append(el("option", { value: sm, selected: isDefault }, `SM ${dotted(sm)}`));
    }
  }
  for (const tool of Object.keys(tools)) {
    const form = panelOf(tool).querySelector("form");
    let pending;
    form.addEventListener("submit", event => event.preventDefault());
    form.addEventListener("input", event => {
      if (tool === "encode") typed = event.target.name === "control" ? "word" : event.target.name;
      clearTimeout(pending);
      // Delayed, so that a screen reader reads the answer once rather than for each key.
      pending = setTimeout(change, event.target.tagName === "SELECT" ? 0 : 200, tool);
    });
  }
  for (const [i, tab] of tabs.entries()) {
    // Does not open the new address, because that would reset the form. Adds to the history, so that users can go back.
    tab.addEventListener("click", () => {
      if (tab.tabIndex === 0) return;
      const tool = tab.id.slice("tab-".length);
      history.pushState(null, "", `#${tool}`);
      select(tool);
      change(tool);
    });
    tab.addEventListener("keydown", event => {
      const moves = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 };
      if (!Object.hasOwn(moves, event.key)) return;
      event.preventDefault();
      const next = tabs[(moves[event.key] + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  }
  $("copy").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      $("copy").textContent = "Copied";
    } catch {
      $("copy").textContent = "Copy it from the address bar";
    }
  });
  window.addEventListener("hashchange", open);
  open();
  document.documentElement.dataset.ready = performance.now().toFixed();
}

const bytes = Uint8Array.from(atob(LIBRARY), letter => letter.charCodeAt(0));
wasm_bindgen({ module_or_path: bytes }).then(start, error => {
  document.querySelector("header").append(el("p", { class: "problem", role: "alert" }, `This browser cannot run the library: ${error}`));
});
