//! Pictures of every page, for somebody to look at: `make shots`.

use std::{fs, path::Path};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::json;

use crate::{
    rig::{View, WIDE},
    shop::World,
};

const WIDTHS: [u32; 2] = [WIDE.width, 360];

/// Writes one of each page, language, theme and width into the folder.
pub async fn take(world: &World, folder: &Path) {
    fs::create_dir_all(folder).unwrap();
    let mut count = 0;
    for language in ["en", "es", "pt-BR"] {
        world.fresh().await;
        world.speak(language).await;
        for page in world.all_pages() {
            let name = page.pattern.trim_matches('/').replace(['/', '{', '}'], "-").replace("--", "-");
            let name = if name.is_empty() { "overview" } else { name.trim_matches('-') };
            // Several of a kind are told apart by their place among them.
            let alike = world.all_pages().take_while(|other| other.address != page.address);
            let name = match alike.filter(|other| other.pattern == page.pattern).count() {
                0 => name.to_owned(),
                before => format!("{name}-{}", before + 1),
            };
            for width in WIDTHS {
                for theme in ["light", "dark"] {
                    world.rig.view(View { width, theme }).await;
                    world.visit(page).await;
                    // As high as the page, so that what keeps its place is drawn along all of it.
                    let height = world.rig.run("return document.documentElement.scrollHeight").await;
                    let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
                    world.rig.cdp("Emulation.setDeviceMetricsOverride", metrics).await;
                    let picture = json!({"format": "png", "captureBeyondViewport": true});
                    let drawn = world.rig.cdp("Page.captureScreenshot", picture).await;
                    let bytes = BASE64_STANDARD.decode(drawn["data"].as_str().unwrap()).unwrap();
                    fs::write(folder.join(format!("{language}-{name}-{width}-{theme}.png")), bytes).unwrap();
                    count += 1;
                }
            }
        }
    }
    println!("{count} pictures are in {}", folder.display());
}
