//! The style sheet, the script and the icon: part of the program, under names that change with their content, so that a browser
//! keeps them for ever.

use std::sync::LazyLock;

use actix_web::{HttpResponse, http::header, web::Path};
use ring::digest::{SHA256, digest};

use crate::error::PageError;

const CSS: &str = concat!(include_str!("../assets/tokens.css"), include_str!("../assets/app.css"));
const SCRIPT: &str = include_str!("../assets/app.js");
const ICON: &str = include_str!("../assets/icon.svg");

struct Asset {
    name: String,
    kind: &'static str,
    content: &'static str,
}

impl Asset {
    fn new(extension: &str, kind: &'static str, content: &'static str) -> Self {
        let hash = hex::encode(digest(&SHA256, content.as_bytes()).as_ref());
        let short: String = hash.chars().take(12).collect();
        Self { name: format!("{short}.{extension}"), kind, content }
    }

    fn address(&self) -> String {
        format!("/assets/{}", self.name)
    }
}

static ASSETS: LazyLock<[Asset; 3]> = LazyLock::new(|| {
    [
        Asset::new("css", "text/css; charset=utf-8", CSS),
        Asset::new("js", "text/javascript; charset=utf-8", SCRIPT),
        Asset::new("svg", "image/svg+xml", ICON),
    ]
});

/// Where the style sheet, the script and the icon are.
pub fn addresses() -> [String; 3] {
    ASSETS.each_ref().map(Asset::address)
}

pub async fn get(name: Path<String>) -> Result<HttpResponse, PageError> {
    let asset = ASSETS.iter().find(|asset| asset.name == *name).ok_or(PageError::NotFound)?;
    Ok(HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, asset.kind))
        .insert_header((header::CACHE_CONTROL, "public, max-age=31536000, immutable"))
        .body(asset.content))
}
