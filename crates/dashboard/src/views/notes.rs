//! Notes on a day.

use maud::{Markup, html};

use super::{
    acts::{Acts, acts},
    form::{Form, section},
};

pub struct Notes {
    pub title: String,
    pub nothing: String,
    pub items: Vec<Written>,
    /// For who may write one.
    pub form: Option<Form>,
}

pub struct Written {
    pub text: String,
    /// Who wrote it, and when.
    pub by: String,
    pub remove: Option<Acts>,
}

pub fn notes(notes: &Notes) -> Markup {
    html! {
        section.panel aria-labelledby="h-notes" {
            header { h2 #h-notes { (notes.title) } }
            @if notes.items.is_empty() { p.soft { (notes.nothing) } } @else {
                ol.items {
                    @for (number, note) in notes.items.iter().enumerate() {
                        @let title = format!("h-note-{number}");
                        li {
                            h3 id=(title) { (note.text) }
                            p { (note.by) }
                            @if let Some(remove) = &note.remove { (acts(remove, Some(&title))) }
                        }
                    }
                }
            }
        }
        @if let Some(form) = &notes.form { (section(form)) }
    }
}
