//! A Chromium, and what is asked of it: by WebDriver (W3C), and by Chrome's own protocol where that has no word.

use std::{
    env,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Mutex, mpsc},
    thread,
    time::Duration,
};

use serde_json::{Value, json};
use testkit::{found, program};
use thirtyfour::{
    By, ChromiumLikeCapabilities, DesiredCapabilities, LoggingPrefsLogLevel, WebDriver, WebElement,
    error::WebDriverResult, extensions::query::ElementQueryable,
};

/// Far above what a start takes on a busy machine.
const START_WITHIN: Duration = Duration::from_secs(60);

/// The names that a browser goes by.
const BROWSERS: [&str; 3] = ["chromium", "google-chrome", "chromium-browser"];

/// A browser with what drives it.
pub struct Programs {
    browser: PathBuf,
    driver: PathBuf,
}

impl Programs {
    /// The browser that `CHROME` names, else one of the search path, else that which `scripts/setup-servers.sh` has unpacked with
    /// its driver; none where one of the two is missing.
    pub fn find() -> Option<Self> {
        let driver = program("chromedriver")?;
        let named = env::var_os("CHROME").map(PathBuf::from);
        // Of the driver's version: the one that came with it.
        let beside = Some(driver.with_file_name("chromium-headless-shell")).filter(|path| path.is_file());
        let browser = named.or(beside).or_else(|| BROWSERS.iter().find_map(|name| found(name)))?;
        Some(Self { browser, driver })
    }
}

/// How a page is looked at.
#[derive(Debug, Clone, Copy)]
pub struct View {
    pub width: u32,
    pub theme: &'static str,
}

pub const WIDE: View = View { width: 1280, theme: "light" };
pub const DARK: View = View { theme: "dark", ..WIDE };
pub const PHONE: View = View { width: 320, ..WIDE };

/// A running browser with one window.
pub struct Rig {
    pub driver: WebDriver,
    process: Mutex<Child>,
}

impl Rig {
    pub async fn start(programs: &Programs) -> Self {
        let mut process = Command::new(&programs.driver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, said) = mpsc::channel();
        // Read to the end, so that it is never kept from writing.
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, port)) = line.split_once("started successfully on port ") {
                    let _ = sender.send(port.trim_end_matches('.').to_owned());
                }
            }
        });
        let port = said.recv_timeout(START_WITHIN).expect("chromedriver does not start");
        let _ = rustls::crypto::ring::default_provider().install_default();
        let capabilities = capabilities(programs).unwrap();
        let driver = WebDriver::new(format!("http://127.0.0.1:{port}"), capabilities).await.unwrap();
        Self { driver, process: Mutex::new(process) }
    }

    /// Ends the browser and its driver.
    pub async fn end(&self) {
        let _ = self.driver.clone().quit().await;
        let mut process = self.process.lock().unwrap();
        let _ = process.kill();
        let _ = process.wait();
    }

    /// A command of the DevTools protocol.
    pub async fn cdp(&self, command: &str, parameters: Value) -> Value {
        self.driver.cdp().send_raw(command, parameters).await.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    /// What a script in the page gives; a promise is waited for.
    pub async fn run(&self, script: &str) -> Value {
        self.driver
            .execute(script, Vec::new())
            .await
            .unwrap_or_else(|error| panic!("{script:.200}: {error}"))
            .json()
            .clone()
    }

    pub async fn goto(&self, address: &str) {
        self.driver.goto(address).await.unwrap_or_else(|error| panic!("{address}: {error}"));
    }

    /// The first element of the kind, once there is one: a click or a key may lead to another page first.
    pub async fn wait(&self, what: &str) -> WebElement {
        self.driver.query(By::Css(what)).first().await.unwrap_or_else(|error| panic!("{what}: {error}"))
    }

    pub async fn view(&self, view: View) {
        let metrics = json!({"width": view.width, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
        self.media("", &[("prefers-color-scheme", view.theme)]).await;
    }

    /// The medium, and the wishes of a reader.
    pub async fn media(&self, medium: &str, features: &[(&str, &str)]) {
        let features: Vec<_> = features.iter().map(|(name, value)| json!({"name": name, "value": value})).collect();
        self.cdp("Emulation.setEmulatedMedia", json!({"media": medium, "features": features})).await;
    }

    /// Presses a key, by its name in UI Events (W3C).
    pub async fn press(&self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Escape" => 27,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
            key => key.chars().next().map_or(0, |letter| u32::from(letter.to_ascii_uppercase())),
        };
        let text = Some(key).filter(|key| key.chars().count() == 1);
        for kind in ["keyDown", "keyUp"] {
            let text = text.filter(|_| kind == "keyDown");
            let event =
                json!({"type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text.unwrap_or_default()});
            self.cdp("Input.dispatchKeyEvent", event).await;
        }
    }

    /// What the console has said since it was last asked, of errors alone: a broken script, a report of the policy of
    /// contents, what could not be loaded.
    pub async fn complaints(&self) -> Vec<String> {
        let said = self.driver.browser_log().await.unwrap();
        // A machine under load leaves out the transition from page to page, and says so.
        let is_ours = |message: &String| !message.contains("Transition was aborted");
        said.into_iter().filter(|line| line.level == "SEVERE").map(|line| line.message).filter(is_ours).collect()
    }

    /// The events of the network since it was last asked.
    pub async fn events(&self) -> Vec<Value> {
        let said = self.driver.get_log("performance").await.unwrap();
        said.iter().map(|line| serde_json::from_str::<Value>(&line.message).unwrap()["message"].clone()).collect()
    }

    pub async fn assert_fits(&self, what: &str) {
        let over = self.run("return document.documentElement.scrollWidth - innerWidth").await;
        if over.as_i64().is_some_and(|over| over <= 0) {
            return;
        }
        let wide = self.run(WIDEST).await;
        panic!("{what} scrolls sideways by {over} px: {wide}");
    }
}

/// The elements that reach beyond the right edge, of those that nothing clips.
const WIDEST: &str = r#"
    const clipped = (of) => of && (getComputedStyle(of).overflowX !== "visible" || clipped(of.parentElement));
    return [...document.querySelectorAll("main *, header *")]
        .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5 && !clipped(one.parentElement))
        .slice(0, 5).map((one) => one.outerHTML.slice(0, 160));"#;

fn capabilities(programs: &Programs) -> WebDriverResult<thirtyfour::ChromeCapabilities> {
    let mut capabilities = DesiredCapabilities::chrome();
    capabilities.set_binary(&programs.browser.to_string_lossy())?;
    for argument in [
        "--headless",
        // Containers and root have no sandbox; what is opened here is ours.
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--force-device-scale-factor=1",
        "--font-render-hinting=none",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    ] {
        capabilities.add_arg(argument)?;
    }
    capabilities.set_logging_prefs("browser", LoggingPrefsLogLevel::All)?;
    capabilities.set_logging_prefs("performance", LoggingPrefsLogLevel::All)?;
    Ok(capabilities)
}
