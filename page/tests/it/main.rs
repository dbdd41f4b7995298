//! Tests of the tools, and of the page in a browser.
//!
//! Tests of the page need its files, from `cargo xtask page`, in the folder `$WARPLOAD_PAGE` or `target/page`; and a
//! browser, `$CHROMIUM` or `chromium`. They are ignored by default, because not every machine has both; `cargo xtask
//! nightly` runs them.
#![allow(clippy::expect_used, clippy::panic, reason = "a test")]
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod answers;
mod browser;
mod page;

use std::path::PathBuf;

/// The path of a file in the crate.
fn here(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The examples of the page. Each is a link to a tool, with its fields in JSON.
fn examples() -> Vec<Example> {
    let html = std::fs::read_to_string(here("static/index.html")).unwrap();
    let links = html.split("<a href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap());
    links.map(|link| Example::new(&link.replace("&amp;", "&"), &html)).collect()
}

struct Example {
    fragment: String,
    tool: String,
    fields: serde_json::Map<String, serde_json::Value>,
}

impl Example {
    /// Parses a link. Fields that are missing in the link have the form's default values.
    fn new(fragment: &str, html: &str) -> Self {
        let (tool, pairs) = fragment.split_once('&').unwrap_or((fragment, ""));
        let panel = html.split(&format!("id=\"panel-{tool}\"")).nth(1).unwrap();
        let mut fields = defaults(panel.split("</form>").next().unwrap());
        if tool == "encode" {
            fields.retain(|name, _| name == "sm");
        }
        for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap();
            fields.insert(name.to_owned(), decoded(value).into());
        }
        Self { fragment: fragment.to_owned(), tool: tool.to_owned(), fields }
    }

    /// The answer of the library, which the browser must also get.
    fn answer(&self) -> serde_json::Value {
        let fields = serde_json::to_string(&self.fields).unwrap();
        let answer = warpload_page::answer(&self.tool, &fields).unwrap();
        serde_json::from_str(&answer).unwrap()
    }
}

/// The default values of a form.
fn defaults(form: &str) -> serde_json::Map<String, serde_json::Value> {
    let attribute = |tag: &str, name: &str| {
        let value = tag.split(&format!(" {name}=\"")).nth(1)?;
        Some(value.split('"').next()?.to_owned())
    };
    let mut fields = serde_json::Map::new();
    for field in form.split('<').filter(|tag| tag.contains("name=\"")) {
        let (tag, text) = field.split_once('>').unwrap();
        let name = attribute(tag, "name").unwrap();
        let value = match tag.split(' ').next().unwrap() {
            "textarea" => text.replace("&lt;", "<").replace("&gt;", ">"),
            "select" => {
                let of = form.split(&format!("<select name=\"{name}\"")).nth(1).unwrap();
                let of = of.split("</select>").next().unwrap();
                let chosen = of.split("<option").find(|option| option.contains(" selected"));
                let chosen = chosen.map(|option| match attribute(option, "value") {
                    Some(value) => value,
                    None => option.split('>').nth(1).unwrap().to_owned(),
                });
                chosen.unwrap_or_else(|| attribute(tag, "data-default").unwrap())
            }
            _ if tag.contains("checkbox") => continue,
            _ => attribute(tag, "value").unwrap_or_default(),
        };
        fields.insert(name, value.into());
    }
    fields
}

/// The inverse of `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap().as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(&part[..2], 16).unwrap());
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).unwrap()
}
