//! Jobs, queues and versions.

use maud::{Markup, html};

use super::{
    layout::{Choice, Shell, page as whole, segments},
    panel::{Panel, panel},
    rows::{Head, Row, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    /// What the choice of pages is called, and the pages.
    pub tabs: (String, Vec<Choice>),
    pub job_head: Vec<Head>,
    pub jobs: Panel<Row>,
    pub queue_head: Vec<Head>,
    pub queues: Panel<Row>,
    pub version_head: Vec<Head>,
    pub versions: Panel<Row>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } }
                div.tools { (segments(&model.tabs.0, &model.tabs.1)) }
            }
            (panel(&model.jobs, |items| rows(&model.job_head, items)))
            (panel(&model.queues, |items| rows(&model.queue_head, items)))
            (panel(&model.versions, |items| rows(&model.version_head, items)))
        },
    )
}
