//! One file.

use maud::{Markup, html};

use super::{
    figures::{Fact, facts},
    layout::{Shell, page as whole},
    panel::{Panel, Table, Way, panel},
    pick::{Pick, options},
    rows::{Badge, Head, Row, badge, rows},
};

pub struct Model {
    pub shell: Shell,
    pub title: String,
    pub crumb: Way,
    pub about: String,
    pub state: Badge,
    /// Why it failed, or why it cannot be imported as it was asked for; then the reason that was kept.
    pub refused: Option<(String, Option<String>)>,
    /// The language of that reason.
    pub reason_in: String,
    /// Why nothing of it can be shown.
    pub unreadable: Option<String>,
    pub choose: Option<Choose>,
    /// Where the form that throws it away goes, and the words of its button.
    pub discard: Option<(String, String)>,
    pub progress: Option<Progress>,
    pub result: Option<Result>,
    pub job_head: Vec<Head>,
    pub jobs: Option<Panel<Row>>,
    /// Where its figures are, once they are made.
    pub figures: Option<Way>,
}

/// The beginning of the file, and the form that says how it is read.
pub struct Choose {
    pub title: String,
    pub what: String,
    pub beginning: String,
    pub rows: Table,
    pub address: String,
    pub columns: Vec<Column>,
    pub dates: Option<Column>,
    pub source: Option<Column>,
    /// The words, and whether it is ticked.
    pub comma: (String, bool),
    pub go: String,
}

/// A choice of the form.
pub struct Column {
    pub name: String,
    pub label: String,
    pub picks: Vec<Pick>,
    pub error: Option<String>,
}

pub struct Progress {
    pub text: String,
    /// Bytes.
    pub done: i64,
    pub all: i64,
    /// That the page can be left.
    pub leave: String,
    pub again: Way,
}

pub struct Result {
    pub title: String,
    pub facts: Vec<Fact>,
    pub rejects: Option<Way>,
    pub ignored: Option<String>,
}

pub fn page(model: &Model) -> Markup {
    whole(
        &model.shell,
        &html! {
            div.head {
                div {
                    small.crumb { a href=(model.crumb.address) { (model.crumb.text) } " / " (model.about) }
                    h1 { (model.title) }
                    p { (badge(&model.state)) }
                }
            }
            @if let Some((said, reason)) = &model.refused {
                div.note.bad.since role="alert" {
                    p { (said) }
                    @if let Some(why) = reason { p lang=(model.reason_in) { (why) } }
                }
            }
            @if let Some(said) = &model.unreadable { p.note.bad.since role="alert" { (said) } }
            @if let Some(shown) = &model.progress { (progress(shown)) }
            @if let Some(form) = &model.choose { (choose(form)) }
            @if let Some((address, words)) = &model.discard {
                form.acts.gap method="post" action=(address) { button.btn.danger { (words) } }
            }
            @if let Some(shown) = &model.result { (result(shown)) }
            @if let Some(shown) = &model.jobs { (panel(shown, |items| rows(&model.job_head, items))) }
            @if let Some(way) = &model.figures { p.acts { a.btn.main href=(way.address) { (way.text) } } }
        },
    )
}

fn progress(shown: &Progress) -> Markup {
    html! {
        div.stack role="status" {
            p { label for="progress" { (shown.text) } }
            progress #progress max=(shown.all) value=(shown.done) {}
            p.soft { (shown.leave) }
            p.acts { a.btn href=(shown.again.address) { (shown.again.text) } }
        }
    }
}

fn choose(form: &Choose) -> Markup {
    html! {
        section.panel aria-labelledby="h-beginning" {
            header { h2 #h-beginning { (form.beginning) } }
            div.scroll tabindex="0" role="group" aria-labelledby="h-beginning" { (beginning(&form.rows)) }
        }
        section.panel aria-labelledby="h-choose" {
            header { h2 #h-choose { (form.title) } }
            p { (form.what) }
            form.form.gap method="post" action=(form.address) {
                @for one in form.columns.iter().chain(&form.dates).chain(&form.source) { (column(one)) }
                label.tick { input type="checkbox" name="comma" checked[form.comma.1]; (form.comma.0) }
                div.acts { button.btn.main { (form.go) } }
            }
        }
    }
}

fn beginning(table: &Table) -> Markup {
    html! {
        table {
            thead { tr { @for name in &table.head { th scope="col" { (name) } } } }
            tbody { @for row in &table.rows { tr { @for cell in row { td { (cell) } } } } }
        }
    }
}

fn column(column: &Column) -> Markup {
    let error = format!("{}-error", column.name);
    html! {
        div.field {
            label for=(column.name) { (column.label) }
            select id=(column.name) name=(column.name) aria-invalid=[column.error.as_ref().map(|_| "true")]
                aria-describedby=[column.error.as_ref().map(|_| &error)] { (options(&column.picks)) }
            @if let Some(said) = &column.error { small.err id=(error) { (said) } }
        }
    }
}

fn result(shown: &Result) -> Markup {
    html! {
        section.panel aria-labelledby="h-result" {
            header { h2 #h-result { (shown.title) } }
            (facts(&shown.facts))
            @if let Some(ignored) = &shown.ignored { p.soft { (ignored) } }
            @if let Some(way) = &shown.rejects { p.acts.gap { a.btn href=(way.address) download { (way.text) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_of_a_file_has_a_heading() {
        let drawn =
            result(&Result { title: "Outcome".into(), facts: vec![], rejects: None, ignored: None }).into_string();
        assert!(drawn.contains(r#"aria-labelledby="h-result""#) && drawn.contains(r#"<h2 id="h-result">Outcome</h2>"#));
    }
}
