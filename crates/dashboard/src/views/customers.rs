//! Customers.

use maud::{Markup, html};

use super::{
    layout::{Choice, Shell, page as whole, segments},
    panel::{Panel, panel},
    rows::{Head, Row, done, rows},
    search::{Search, search},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub place: String,
    /// What was just done.
    pub done: Option<String>,
    pub search: Search,
    pub segment_head: Vec<Head>,
    pub segments: Panel<Row>,
    pub churn_head: Vec<Head>,
    pub churn: Panel<Row>,
    pub sources: (String, Vec<Choice>),
    pub orders: (String, Vec<Choice>),
    pub customer_head: Vec<Head>,
    pub customers: Panel<Row>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div { h1 { (model.title) } p.soft { (model.place) } }
                div.tools {
                    (search(&model.search))
                    (segments(&model.sources.0, &model.sources.1))
                    (segments(&model.orders.0, &model.orders.1))
                }
            }
            (done(model.done.as_ref()))
            (panel(&model.segments, |items| rows(&model.segment_head, items)))
            (panel(&model.churn, |items| rows(&model.churn_head, items)))
            (panel(&model.customers, |items| rows(&model.customer_head, items)))
        },
    )
}
