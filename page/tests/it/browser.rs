//! [`Browser`]: controls Chromium by the DevTools protocol. It uses pipes, because WebSockets would need a client.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// The timeout for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Browser {
    process: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: VecDeque<Value>,
    number: u64,
    session: Option<String>,
    url: String,
    _profile: TempDir,
}

impl Browser {
    /// Starts the browser; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let found = std::env::var_os("CHROMIUM").map(PathBuf::from).or_else(|| {
            let path = std::env::var_os("PATH")?;
            let programs = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
            programs.into_iter().find(|file| file.is_file())
        });
        let Some(chromium) = found else {
            const WHAT: &str = "no chromium; CHROMIUM=/path/to/chromium names one";
            let is_required =
                std::env::var_os("WARPLOAD_REQUIRE").is_some_and(|value| value == "1");
            assert!(!is_required, "{WHAT}, and WARPLOAD_REQUIRE=1 requires it");
            eprintln!("skipped: {WHAT}");
            return None;
        };
        let page = std::env::var_os("WARPLOAD_PAGE").map(PathBuf::from);
        let page = page.unwrap_or_else(|| crate::here("../target/page")).join("index.html");
        let page = page.canonicalize().expect("`cargo xtask page` writes the page");
        let profile = tempfile::tempdir().unwrap();
        // The browser uses the file descriptors 3 and 4 for the protocol. `Command` cannot set them, but a shell can.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>&1"])
            .arg(chromium)
            .args("--headless --no-sandbox --disable-gpu --disable-quic --no-first-run".split(' '))
            .args("--disable-background-networking --disable-component-update".split(' '))
            .args(["--disable-sync", "--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, stdout) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(stdout).split(0).map_while(Result::ok);
            for message in messages {
                let Ok(message) = serde_json::from_slice(&message) else { return };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let mut browser = Self {
            process,
            to,
            from,
            events: VecDeque::new(),
            number: 0,
            session: None,
            url: format!("file://{}", page.display()),
            _profile: profile,
        };
        let targets = browser.call("Target.getTargets", json!({}));
        let mut targets = targets["targetInfos"].as_array().unwrap().iter();
        let target = targets.find(|target| target["type"] == "page").unwrap()["targetId"].clone();
        let attach = json!({"targetId": target, "flatten": true});
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = Some(session["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Network", "Log", "Accessibility", "DOM"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method of the protocol, and returns its result.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut message = json!({"id": self.number, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = session.as_str().into();
        }
        self.to.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let mut answer = self.from.recv_timeout(PATIENCE).expect(method);
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].take();
            }
            self.events.push_back(answer);
        }
    }

    /// The events received so far, which are messages without a request.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        self.events.drain(..).collect()
    }

    /// Runs JavaScript in the page, and returns its result.
    pub(crate) fn run(&mut self, script: &str) -> Value {
        let parameters = json!({"expression": script, "returnByValue": true, "awaitPromise": true});
        let mut result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{script}: {result}");
        result["result"]["value"].take()
    }

    /// Runs JavaScript with text as its result.
    pub(crate) fn text(&mut self, script: &str) -> String {
        let value = self.run(script);
        value.as_str().unwrap_or_else(|| panic!("{script}: {value}")).to_owned()
    }

    /// Waits until a condition in the page is true.
    pub(crate) fn until(&mut self, condition: &str) {
        let start = Instant::now();
        while self.run(&format!("!!({condition})")) != true {
            assert!(start.elapsed() < PATIENCE, "never: {condition}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Opens the page with a fragment, like a link.
    pub(crate) fn open(&mut self, fragment: &str) {
        self.call("Page.navigate", json!({"url": "about:blank"}));
        self.call("Page.navigate", json!({"url": format!("{}#{fragment}", self.url)}));
        self.until("document.documentElement?.dataset.ready !== undefined");
    }

    /// Sets the value of an input, and dispatches an event, because scripts cause none.
    pub(crate) fn set(&mut self, input: &str, event: &str, value: &str) {
        let value = Value::from(value);
        let event = format!("new Event('{event}', {{ bubbles: true }})");
        self.run(&format!("{input}.value = {value}; {input}.dispatchEvent({event})"));
    }

    /// Types text into the focused element.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let key = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", key);
        }
    }

    pub(crate) fn prefer(&mut self, theme: &str) {
        let feature = json!({"name": "prefers-color-scheme", "value": theme});
        self.call("Emulation.setEmulatedMedia", json!({"features": [feature]}));
    }

    pub(crate) fn resize(&mut self, width: u32, height: u32) {
        let metrics =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Fails if the browser has already exited, for example with a failed test.
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
