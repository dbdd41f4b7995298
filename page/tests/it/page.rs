//! Tests of the page in a browser.

use std::collections::BTreeSet;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use warpload::encoding::{Instruction, Sm};

use crate::browser::Browser;
use crate::{examples, here};

/// The visible panel.
const PANEL: &str = "document.querySelector('[role=tabpanel]:not([hidden])')";
/// The text of the visible panel, including folded parts.
const SAID: &str = "document.querySelector('[role=tabpanel]:not([hidden])').textContent";
/// The folded loads of a listing. Their contents are created when they are unfolded.
const FOLDED: &str = "document.querySelectorAll('.answer > details')";
/// The root of the drawing's elements.
const PICTURE: &str =
    "document.querySelector('[role=tabpanel]:not([hidden]) .picture div').shadowRoot";
const STATUS: &str =
    "document.querySelector('[role=tabpanel]:not([hidden]) [role=status]').textContent";

/// Collects the texts of an answer that the page shows.
fn shown(answer: &Value, texts: &mut Vec<String>) {
    // Pictures are compared separately. The other keys are values of inputs, or for programs.
    const OTHERS: [&str; 9] =
        ["svg", "rows", "field", "slot", "max", "sm", "value", "raw", "title"];
    match answer {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|one| shown(one, texts)),
        Value::Object(object) => {
            let told = object.iter().filter(|(key, _)| !OTHERS.contains(&key.as_str()));
            told.for_each(|(_, value)| shown(value, texts));
            // The title is part of the drawing, if there is one.
            if object.get("drawing").is_some_and(|drawing| drawing == "") {
                shown(&object["title"], texts);
            }
        }
        _ => {}
    }
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn every_example_shows_the_answer_of_the_library() {
    let Some(mut browser) = Browser::start() else { return };
    let examples = examples();
    assert!(examples.len() > 20, "{}", examples.len());
    for example in examples {
        let (fragment, expected) = (&example.fragment, example.answer());
        browser.open(fragment);
        browser.run(&format!("{FOLDED}.forEach(one => one.open = true)"));
        browser.until(&format!("[...{FOLDED}].every(one => one.childElementCount > 1)"));
        let fields = serde_json::to_string(&example.fields).unwrap();
        let answer =
            browser.text(&format!("JSON.stringify(wasm_bindgen.{}({fields}))", example.tool));
        assert_eq!(serde_json::from_str::<Value>(&answer).unwrap(), expected, "{fragment}");
        let said = browser.text(SAID);
        let mut texts = Vec::new();
        shown(&expected, &mut texts);
        assert!(!texts.is_empty());
        for text in texts {
            assert!(said.contains(&text), "{fragment}: {text:?} is not in {said}");
        }
        let drawn = [&expected["svg"], &expected["access"]["svg"]];
        if let Some(svg) = drawn.into_iter().find_map(Value::as_str) {
            let count = format!("{PICTURE}.querySelectorAll('text').length");
            assert_eq!(browser.run(&count), svg.matches("<text").count(), "{fragment}");
        }
    }
}

/// The library has 32-bit pointers in a browser and 64-bit ones here, so its numbers could differ.
#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn every_form_is_the_same_in_a_browser() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("");
    for sm in Sm::all() {
        for form in Instruction::forms(sm) {
            let (word, sm) = (form.word().to_string(), sm.to_string());
            let base = "0xfffffff0 + lane * 36";
            for (tool, fields) in [
                ("decode", json!({"sm": sm, "input": word})),
                ("encode", json!({"sm": sm, "word": word})),
                ("run", json!({"sm": sm, "instruction": word, "base": base})),
            ] {
                let here = warpload_page::answer(tool, &fields.to_string()).unwrap();
                let there = browser.text(&format!("JSON.stringify(wasm_bindgen.{tool}({fields}))"));
                assert!(here == there, "{tool} {form} of SM {sm}:\n{here}\n{there}");
            }
        }
    }
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn typing_an_instruction_changes_the_word_and_the_link() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("encode&sm=80");
    browser.run("document.forms[1].elements.text.select()");
    browser.type_text("ldg.e.128 r8, [r2.64]");
    browser.until("document.forms[1].elements.word.value.startsWith('0x000fe2000c1e1d00')");
    // The text stays as typed. The link has the word, because it is exact.
    assert_eq!(browser.text("document.forms[1].elements.text.value"), "ldg.e.128 r8, [r2.64]");
    assert_eq!(
        browser.text("location.hash"),
        "#encode&word=0x000fe2000c1e1d000000000002087981&sm=80"
    );
    assert!(browser.text(STATUS).ends_with("LDG.E.128 R8, [R2.64]"));
    browser.type_text("!");
    browser.until("document.querySelector('[aria-invalid]')?.name === 'text'");
    assert!(browser.text(SAID).contains("^"), "the place is not underlined");
    assert_eq!(browser.text("document.forms[1].elements.word.value"), "");
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_field_changes_word_and_text_and_keeps_the_focus() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("encode&text=LDG.E.64%20R4%2C%20%5BR2.64%5D&sm=80");
    let size = "document.querySelector('[aria-label=\"sz, bits 75:73\"]')";
    browser.run(&format!("{size}.focus()"));
    browser.set(size, "change", "0x6");
    browser.until("document.forms[1].elements.text.value === 'LDG.E.128 R4, [R2.64]'");
    assert_eq!(
        browser.text("document.forms[1].elements.word.value"),
        "0x000fe2000c1e1d000000000002047981"
    );
    assert_eq!(browser.run(&format!("document.activeElement === {size}")), true);
    // Choices that do not make a load are disabled.
    let disabled = browser.run("document.querySelectorAll('#panel-encode option:disabled').length");
    assert_eq!(
        disabled,
        warpload_page::encode(&warpload_page::EncodeFields {
            sm: "80".to_owned(),
            word: "0x000fe2000c1e1d000000000002047981".to_owned(),
            ..Default::default()
        })
        .fields
        .iter()
        .flat_map(|field| &field.choices)
        .filter(|choice| !choice.is_legal)
        .count()
    );
    assert_ne!(disabled, 0);
    let base = "document.querySelector('[aria-label=\"Ra, bits 31:24\"]')";
    browser.set(base, "change", "0x100");
    browser.until("document.querySelector('.problem')");
    assert!(browser.text(SAID).contains("Ra has 8 bits: at most 0xff"));
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_control_slot_follows_its_fields() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("encode&text=LD.E.64%20R4%2C%20%5BR2%5D%2C%20P0&sm=60");
    let stall = "document.querySelector('[aria-label=\"stall, bits 3:0\"]')";
    browser.set(stall, "change", "0xd");
    browser.until("document.forms[1].elements.control.value === '0x0007ed'");
    assert!(browser.text(SAID).contains("[B------:R-:W-:Y:S13]"));
    assert_eq!(
        browser.text("location.hash"),
        "#encode&word=0x80b0000000070204&sm=60&control=0x0007ed"
    );
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_load_goes_from_tool_to_tool() {
    let Some(mut browser) = Browser::start() else { return };
    let follow = |browser: &mut Browser, label: &str, panel: &str| {
        let links = "[...document.querySelectorAll('[role=tabpanel]:not([hidden]) .answer a')]";
        browser.run(&format!("{links}.find(link => link.textContent === '{label}').click()"));
        browser.until(&format!("{PANEL}.id === '{panel}'"));
    };
    browser.open("decode&input=LDG.E%20R0%2C%20%5BR4.64%5D&sm=80a");
    follow(&mut browser, "Edit it", "panel-encode");
    assert_eq!(browser.text("document.forms[1].elements.text.value"), "LDG.E R0, [R4.64]");
    follow(&mut browser, "Run it", "panel-run");
    assert!(browser.text(STATUS).starts_with("LDG.E R0, [R4.64]: global memory"));
    follow(&mut browser, "Explain it", "panel-decode");
    assert_eq!(browser.text(STATUS), "1 load in 1 instruction");
    browser.open("encode&text=LDTM.16dp256bit.x4%20R4%2C%20tmem%5BUR4%5D&sm=100");
    follow(&mut browser, "See its cells", "panel-tensor");
    assert!(browser.text(STATUS).starts_with("tcgen05.ld"));
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn tabs_are_chosen_by_the_keyboard() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("");
    let chosen = format!("document.activeElement.id + ' ' + {PANEL}.id");
    browser.run("document.getElementById('tab-decode').focus()");
    for (key, code, expected) in [
        ("ArrowRight", 39, "tab-encode panel-encode"),
        ("End", 35, "tab-ptx panel-ptx"),
        ("ArrowRight", 39, "tab-decode panel-decode"),
        ("ArrowLeft", 37, "tab-ptx panel-ptx"),
        ("Home", 36, "tab-decode panel-decode"),
    ] {
        browser.press(key, code);
        browser.until(&format!("({chosen}) === '{expected}'"));
    }
    // Only the selected tab is reachable with the tab key. The browser's history has all of them.
    assert_eq!(browser.run("document.querySelectorAll('[role=tab][tabindex=\"0\"]').length"), 1);
    browser.run("history.back()");
    browser.until("!document.getElementById('panel-ptx').hidden");
    // Each form keeps its fields when the tab changes.
    browser.set("document.forms[5].elements.source", "input", "nothing");
    browser.until("location.hash.endsWith('=nothing')");
    browser.run("document.getElementById('tab-run').click()");
    assert_eq!(browser.text("document.forms[5].elements.source.value"), "nothing");
    browser.run("history.back()");
    browser.until("!document.getElementById('panel-ptx').hidden");
    assert_eq!(browser.text("document.forms[5].elements.source.value"), "nothing");
    browser.run("document.getElementById('tab-ptx').focus()");
    browser.press("Tab", 9);
    assert_eq!(browser.text("document.activeElement.name"), "source");
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_link_shows_what_its_sender_saw() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("banks");
    browser.run("document.forms[3].elements.merge.click()");
    for (field, value) in
        [("access", "a % 7 & lane << 3"), ("space", "global"), ("values", "a=100")]
    {
        browser.set(&format!("document.forms[3].elements.{field}"), "input", value);
    }
    browser.until("location.hash.includes('values=a')");
    let (link, said) = (browser.text("location.hash.slice(1)"), browser.text(SAID));
    assert_eq!(
        link,
        "banks&access=a%20%25%207%20%26%20lane%20%3C%3C%203&space=global&values=a%3D100&merge=on"
    );
    browser.open(&link);
    assert_eq!(browser.text(SAID), said);
    assert_eq!(browser.run("document.forms[3].elements.merge.checked"), true);
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn text_is_no_markup() {
    let Some(mut browser) = Browser::start() else { return };
    let text =
        "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>";
    let text = text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    for (tool, fields) in [
        ("decode", vec!["input"]),
        ("encode", vec!["text", "word", "control"]),
        ("run", vec!["instruction", "base", "values", "mask"]),
        ("banks", vec!["access", "values", "range", "element", "mask"]),
        ("tensor", vec!["instruction"]),
        ("ptx", vec!["source"]),
    ] {
        for field in fields {
            browser.open(&format!("{tool}&{field}={text}"));
            assert_eq!(browser.run("document.querySelectorAll('main img, main script').length"), 0);
            assert!(browser.text("document.title").ends_with("– warpload"), "{tool} {field}");
        }
    }
    // Names from a listing and from a drawing are escaped, too.
    let name = "%3Cimg%20src%3Dx%3E";
    let load = "%2F*0008*%2F%20LD%20R0%2C%20%5BR2%5D%20%3B";
    browser.open(&format!("decode&sm=50&input=%09Function%20%3A%20{name}%0A{load}%0A"));
    assert_eq!(browser.run("document.querySelectorAll('main img').length"), 0);
    assert!(browser.text(SAID).contains("<img src=x>"));
    browser.open("banks&access=lane%20%3C%3C%202");
    let title = format!("{PICTURE}.querySelector('.title').textContent");
    assert_eq!(browser.text(&title), "lane << 2");
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn broken_links_open_the_page() {
    let Some(mut browser) = Browser::start() else { return };
    for (fragment, panel) in [
        ("nowhere", "panel-decode"),
        ("banks&access=%", "panel-banks"),
        ("banks&access", "panel-banks"),
        ("banks&constructor=1&elements=2&nothing=3&space=moon", "panel-banks"),
        ("__proto__&a=b", "panel-decode"),
        ("run&sm=999", "panel-run"),
        ("&&&=&=", "panel-decode"),
    ] {
        browser.open(fragment);
        assert_eq!(
            browser.text("document.querySelector('[role=tabpanel]:not([hidden])').id"),
            panel
        );
        assert_ne!(browser.text(STATUS), "", "{fragment}");
    }
    let thrown =
        browser.events().into_iter().find(|event| event["method"] == "Runtime.exceptionThrown");
    assert_eq!(thrown, None);
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn a_long_listing_is_cut() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("decode");
    let listing = "0x000ea8000c1e19000000100404007981\n".repeat(5000);
    browser.set("document.forms[0].elements.input", "input", &listing);
    browser.until(&format!("{FOLDED}.length === 200"));
    assert_eq!(browser.text(STATUS), "5000 loads in 5000 instructions; the first 200 are shown");
    assert_eq!(browser.run("document.getElementById('copy').disabled"), true);
    assert_eq!(browser.text("location.hash"), "#decode");
    // The form does not fit in a link, so the history keeps it.
    browser.run("document.getElementById('tab-banks').click()");
    browser.run("history.back()");
    browser.until("!document.getElementById('panel-decode').hidden");
    assert_eq!(browser.run("document.forms[0].elements.input.value.length"), 5000 * 35);
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn broken_rules_are_underlined() {
    let Some(mut browser) = Browser::start() else { return };
    browser.open("ptx");
    let marks = browser.run("[...document.querySelectorAll('mark')].map(mark => mark.textContent)");
    assert_eq!(marks, json!([".v8", ".cg"]));
    // Places are in UTF-16 code units, which matters after characters of two units.
    let source = browser.text("document.forms[5].elements.source.value");
    let source = format!("// \u{1f600} \u{e9}\n{source}");
    browser.set("document.forms[5].elements.source", "input", &source);
    browser.until("document.querySelector('.source').textContent.startsWith('// ')");
    let again = browser.run("[...document.querySelectorAll('mark')].map(mark => mark.textContent)");
    assert_eq!(again, json!(["\u{1f600}", ".v8", ".cg"]));
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn nothing_is_sent_and_nothing_fails() {
    let Some(mut browser) = Browser::start() else { return };
    let offline =
        json!({"offline": true, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1});
    browser.call("Network.emulateNetworkConditions", offline);
    browser.events();
    for tool in ["decode", "encode", "run", "banks", "tensor", "ptx"] {
        browser.open(tool);
    }
    let events = browser.events();
    let of = |method: &str| {
        events.iter().filter(move |event| event["method"] == method).collect::<Vec<_>>()
    };
    let sent = of("Network.requestWillBeSent");
    assert!(!sent.is_empty());
    for request in sent {
        let url = request["params"]["request"]["url"].as_str().unwrap();
        assert!(
            ["file://", "data:", "about:"].iter().any(|scheme| url.starts_with(scheme)),
            "{url}"
        );
    }
    assert_eq!(of("Runtime.exceptionThrown"), Vec::<&Value>::new());
    assert_eq!(of("Log.entryAdded"), Vec::<&Value>::new());
    // A user would notice a longer start.
    let milliseconds: u64 = browser.text("document.documentElement.dataset.ready").parse().unwrap();
    assert!(milliseconds < 5000, "{milliseconds} ms until the page answers");
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn everything_has_a_name() {
    let Some(mut browser) = Browser::start() else { return };
    for example in examples() {
        browser.open(&example.fragment);
        let tree = browser.call("Accessibility.getFullAXTree", json!({}));
        let mut controls = 0;
        for node in tree["nodes"].as_array().unwrap() {
            let role = node["role"]["value"].as_str().unwrap_or_default();
            let roles = [
                "textbox", "combobox", "checkbox", "button", "link", "tab", "tabpanel", "region",
                "image", "img",
            ];
            if node["ignored"] == true || !roles.contains(&role) {
                continue;
            }
            controls += 1;
            let name = node["name"]["value"].as_str().unwrap_or_default();
            assert!(!name.trim().is_empty(), "{}: {node}", example.fragment);
        }
        assert!(controls > 10, "{}: {controls}", example.fragment);
    }
    let ids = browser.run("[...document.querySelectorAll('[id]')].map(one => one.id)");
    let ids: Vec<&str> = ids.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids.len(), BTreeSet::from_iter(&ids).len(), "{ids:?}");
}

#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn text_stands_out_in_both_themes() {
    let Some(mut browser) = Browser::start() else { return };
    let script = std::fs::read_to_string(here("tests/it/contrast.js")).unwrap();
    for theme in ["light", "dark"] {
        browser.prefer(theme);
        for example in examples() {
            browser.open(&example.fragment);
            let found = browser.run(&script);
            assert!(found["texts"].as_u64().unwrap() > 10, "{found}");
            assert_eq!(found["faint"], json!([]), "{theme}, {}", example.fragment);
        }
    }
    let ground = browser.text("getComputedStyle(document.body).backgroundColor");
    assert_eq!(ground, "rgb(22, 21, 25)");
}

/// Also writes pictures, for a person to look at.
#[test]
#[ignore = "opens a browser; `cargo xtask nightly` runs it"]
fn the_page_fits_screens_of_any_width() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = here("../target/page-pictures");
    std::fs::create_dir_all(&folder).unwrap();
    for (width, height) in [(360, 740), (768, 1024), (1280, 900), (1920, 1080)] {
        browser.resize(width, height);
        for theme in ["light", "dark"] {
            browser.prefer(theme);
            for tool in ["decode", "encode", "run", "banks", "tensor", "ptx"] {
                browser.open(tool);
                let wide = browser.run("document.documentElement.scrollWidth - innerWidth");
                assert!(wide.as_i64().unwrap() <= 0, "{tool} at {width}: {wide} too wide");
                let picture = browser.call(
                    "Page.captureScreenshot",
                    json!({"format": "png", "captureBeyondViewport": false}),
                );
                let bytes = BASE64_STANDARD.decode(picture["data"].as_str().unwrap()).unwrap();
                assert!(bytes.starts_with(b"\x89PNG"));
                std::fs::write(folder.join(format!("{tool}-{width}-{theme}.png")), bytes).unwrap();
            }
        }
    }
}
