//! Files, sources and jobs.

use maud::{Markup, html};

use super::{
    layout::{Shell, page as whole},
    panel::{Panel, panel},
    pick::{Pick, options},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    pub drop: Option<Drop>,
    pub upload_head: Vec<Head>,
    pub uploads: Panel<Row>,
    pub source_head: Vec<Head>,
    pub sources: Panel<Row>,
    pub run_now: Option<RunNow>,
    pub job_head: Vec<Head>,
    pub jobs: Panel<Row>,
}

/// The form that takes a file.
pub struct Drop {
    pub title: String,
    pub what: String,
    pub kind: (String, Vec<Pick>),
    /// The label, and what is allowed.
    pub file: (String, String),
    pub go: String,
}

/// The button that runs the jobs; off while they are at it.
pub struct RunNow {
    pub address: &'static str,
    pub words: String,
    pub is_off: bool,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head { div { h1 { (model.title) } p.soft { (model.place) } } }
            @if let Some(form) = &model.drop { (drop(form)) }
            (panel(&model.uploads, |items| rows(&model.upload_head, items)))
            div.cols {
                (panel(&model.sources, |items| rows(&model.source_head, items)))
                (panel(&model.jobs, |items| html! {
                    (rows(&model.job_head, items))
                    @if let Some(run) = &model.run_now { (run_now(run)) }
                }))
            }
        },
    )
}

fn drop(form: &Drop) -> Markup {
    html! {
        section.panel aria-labelledby="h-drop" {
            header { h2 #h-drop { (form.title) } }
            p { (form.what) }
            form.filters.gap method="post" action="/data" enctype="multipart/form-data" {
                div.field {
                    label for="kind" { (form.kind.0) }
                    select #kind name="kind" { (options(&form.kind.1)) }
                }
                div.field {
                    label for="file" { (form.file.0) }
                    input #file name="file" type="file" required accept=".csv,.txt,.tsv,.gz,text/csv"
                        aria-describedby="file-help";
                }
                button.btn.main { (form.go) }
            }
            small #file-help { (form.file.1) }
        }
    }
}

fn run_now(run: &RunNow) -> Markup {
    html! {
        form.acts.gap method="post" action=(run.address) {
            button.btn disabled[run.is_off] { (run.words) }
        }
    }
}
