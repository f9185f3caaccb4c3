//! The frame of a page without navigation: for who is not logged in, of an error, and to prove who one is.

use maud::{DOCTYPE, Markup, html};

use crate::{assets, parts::icons::logo, text::Writer};

pub struct Plain {
    language: String,
    title: String,
    /// The colours that the person chose, where somebody is logged in.
    pub theme: Option<&'static str>,
}

impl Plain {
    pub fn new(writer: &Writer, title: String) -> Self {
        Self { language: writer.locale().tag(), title, theme: None }
    }
}

pub fn plain(frame: &Plain, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(frame.language) data-theme=[frame.theme] {
            (head(&frame.title, None))
            body {
                main.narrow #main {
                    span.brand { (logo()) "Business Analytics" }
                    h1 { (frame.title) }
                    (body)
                }
            }
        }
    }
}

/// The same with room for a table.
pub fn plain_wide(frame: &Plain, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(frame.language) data-theme=[frame.theme] {
            (head(&frame.title, None))
            body {
                main #main {
                    a.brand.since href="/" { (logo()) "Business Analytics" }
                    h1 { (frame.title) }
                    div.stack.gap { (body) }
                }
            }
        }
    }
}

/// The head of every page.
pub fn head(title: &str, shop: Option<&str>) -> Markup {
    let [style, script, icon] = assets::addresses();
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width";
            title { (title) @if let Some(shop) = shop { " · " (shop) } }
            link rel="icon" href=(icon);
            link rel="stylesheet" href=(style);
            // Nothing is drawn before the script has added its own: what is there would move.
            script src=(script) defer blocking="render" {}
        }
    }
}
