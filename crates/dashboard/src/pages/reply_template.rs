//! One template of answers: what it says, its versions, and what can be done about it.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form as Sent},
};
use domain::{
    TemplateId,
    audit::Action,
    page::{Page, PageRequest},
    people::Act,
    social::templates::{
        ChangeError, Links, MAX_APPROVER_CHARS, Step, Template, TemplateChange, TemplateState, Version, render,
    },
};
use serde::Deserialize;

use super::{
    bot::{self, Tab, category, language, template_state},
    fields::Fields,
    html_with, panel, query,
    reply_templates::number,
    see,
    shell::shell,
    template_form::{Wanted, fault, fields},
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        figures::Fact,
        form::{Button, Field, Form},
        layout::Here,
        panel::{Panel, Way},
        reply_template::{self as view, Model, Preview},
        rows::{Badge, Cell, Head, Row},
    },
};

/// Versions of a page.
const LIMIT: i64 = 25;
const DONE: [&str; 4] = ["template-made", "template-changed", "template-approved", "template-retired"];

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    draw(&request, &viewer, &state, None, None).await
}

/// Makes a new version, or gives another name.
pub async fn change(
    request: HttpRequest,
    viewer: Viewer,
    sent: Sent<Fields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let (id, wanted) = (TemplateId(query::id(&request)?), Wanted::sent(&sent)?);
    let Wanted { name, category, language, variations } = wanted.clone();
    let entry = viewer.note(Action::TemplateChanged);
    let change = TemplateChange { name: Some(name), category, language, variations: Some(variations), step: None };
    match state.reply_templates.change(viewer.account(), id, change, Some(entry), writer.now).await {
        Ok(_) => Ok(back(id, "template-changed")),
        Err(ChangeError::Invalid(invalid)) => {
            draw(&request, &viewer, &state, Some(wanted), Some(fault(&writer, &invalid))).await
        }
        Err(error) => Err(refusal(error)),
    }
}

/// What the buttons that take a template on send.
#[derive(Deserialize)]
pub struct Wish {
    state: TemplateState,
    /// The version that the page showed; not where the template is retired.
    version: Option<i64>,
}

/// Approves the version that the viewer saw, in the viewer's name, or retires the template.
pub async fn set_state(
    request: HttpRequest,
    viewer: Viewer,
    sent: Sent<Wish>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let id = TemplateId(query::id(&request)?);
    let approver = viewer.session().person.name.chars().take(MAX_APPROVER_CHARS).collect();
    let (step, action, done) = match sent.state {
        TemplateState::Approved => {
            let seen = sent.version.ok_or(PageError::Invalid("version"))?;
            (Step::Approve { by: approver, seen: Some(seen) }, Action::TemplateApproved, "template-approved")
        }
        TemplateState::Retired => (Step::Retire, Action::TemplateRetired, "template-retired"),
        TemplateState::Draft => return Err(PageError::Invalid("state")),
    };
    let entry = viewer.note(action);
    let change = TemplateChange { step: Some(step), ..TemplateChange::default() };
    match state.reply_templates.change(viewer.account(), id, change, Some(entry), writer.now).await {
        Ok(_) => Ok(back(id, done)),
        // The hosts that answers may lead to are others by now.
        Err(ChangeError::Invalid(invalid)) => {
            draw(&request, &viewer, &state, None, Some(fault(&writer, &invalid))).await
        }
        Err(error) => Err(refusal(error)),
    }
}

pub async fn delete(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let id = TemplateId(query::id(&request)?);
    let entry = viewer.note(Action::TemplateDeleted);
    let deleted = state.reply_templates.delete(viewer.account(), id, Some(entry), (state.clock)()).await;
    deleted.map_err(refusal)?;
    Ok(see(&format!("{}?done=template-deleted", Tab::Templates.address())))
}

fn back(id: TemplateId, done: &str) -> HttpResponse {
    see(&format!("{}/{id}?done={done}", Tab::Templates.address()))
}

fn refusal(error: ChangeError) -> PageError {
    match error {
        ChangeError::NotFound => PageError::NotFound,
        ChangeError::Invalid(invalid) => PageError::Invalid(invalid.field()),
        ChangeError::Transition => PageError::Conflict,
        ChangeError::Store(error) => error.into(),
    }
}

async fn draw(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    wanted: Option<Wanted>,
    fault: Option<(&'static str, String)>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(viewer), request.headers(), (state.clock)());
    let (id, account) = (TemplateId(query::id(request)?), viewer.account());
    let done = bot::done(&writer, request, &DONE)?;
    let cursor = query::cursor(request)?;
    let page = PageRequest { limit: LIMIT, cursor };
    let (found, versions) = state.reply_templates.find(account, id, page).await?.ok_or(PageError::NotFound)?;
    let setup = state.social_settings.setup(account).await?;
    let content = &found.content;
    let title = content.name().to_owned();
    let status = if fault.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let source = Source { writer: &writer, found: &found };
    let may_change = viewer.may(Act::Change) && found.state != TemplateState::Retired;
    let wanted = wanted.unwrap_or_else(|| Wanted::of(content));
    let model = Model {
        shell: shell(viewer, state, &writer, Here::Conversations, title.clone()).await?,
        back: Way { text: writer.say("reply-templates"), address: Tab::Templates.address().to_owned() },
        title,
        state: template_state(&writer, found.state),
        about: format!("{} · {}", category(&writer, content.category()), language(&writer, content.language())),
        standing: bot::standing(viewer, &writer, &setup),
        done,
        facts: source.facts(),
        preview: source.preview(&setup.settings.links),
        acts: if may_change { source.acts() } else { vec![] },
        head: source.head(),
        versions: source.versions(state, cursor, &versions),
        forms: if may_change { source.forms(&wanted, fault.as_ref()) } else { vec![] },
    };
    Ok(html_with(status, view::page(&model)))
}

struct Source<'a> {
    writer: &'a Writer,
    found: &'a Template,
}

impl Source<'_> {
    fn facts(&self) -> Vec<Fact> {
        let fact = |name: &str, known: Option<i64>| Fact {
            name: self.writer.say(name),
            text: known.map_or_else(|| "–".to_owned(), |known| self.writer.number(known.into(), 0)),
            value: known.map(|known| known.to_string()),
            change: None,
            below: None,
        };
        vec![
            fact("template-version", Some(self.found.version)),
            fact("template-in-use", self.found.approved_version),
            fact("template-used", Some(self.found.used_count)),
        ]
    }

    /// What a commenter would read.
    fn preview(&self, links: &Links) -> Preview {
        let variations = self.found.content.variations();
        let name = self.writer.say("template-example");
        let texts: Vec<_> = variations.iter().filter_map(|variation| render(variation, &name, links)).collect();
        let lacks = Way { text: self.writer.say("template-lacks-link"), address: Tab::Settings.address().to_owned() };
        Preview {
            title: self.writer.say("template-preview"),
            about: self.writer.message("template-preview-about").text("name", name).say(),
            lacks: (texts.len() < variations.len()).then_some(lacks),
            texts,
        }
    }

    fn form(&self, id: &'static str, words: &str, path: &str, fields: Vec<Field>, button: Button) -> Form {
        Form {
            id,
            title: self.writer.say(words),
            about: vec![self.writer.say(&format!("{words}-about"))],
            is_get: false,
            action: format!("{}/{}{path}", Tab::Templates.address(), self.found.id),
            hidden: vec![],
            fields,
            buttons: vec![button],
        }
    }

    /// A draft is approved where it is seen as it would be read.
    fn acts(&self) -> Vec<Form> {
        let is_draft = self.found.state == TemplateState::Draft;
        let button = |text| Button { sends: Some(("state", "approved")), ..Button::main(text) };
        let form = || {
            let go = button(self.writer.say("template-approve"));
            let form = self.form("h-approve", "template-approve", "/state", vec![], go);
            Form { hidden: vec![("version", self.found.version.to_string())], ..form }
        };
        is_draft.then(form).into_iter().collect()
    }

    fn forms(&self, wanted: &Wanted, fault: Option<&(&'static str, String)>) -> Vec<Form> {
        let say = |words: &str| self.writer.say(words);
        let is_new = self.found.state == TemplateState::Draft && self.found.approved_version.is_none();
        let retire = Button { sends: Some(("state", "retired")), ..Button::danger(say("template-retire")) };
        let change = self.form(
            "h-change",
            "template-change",
            "",
            fields(self.writer, wanted, fault),
            Button::main(say("template-change-go")),
        );
        let end = if is_new {
            self.form("h-delete", "template-delete", "/delete", vec![], Button::danger(say("template-delete")))
        } else {
            self.form("h-retire", "template-retire", "/state", vec![], retire)
        };
        vec![change, end]
    }

    fn head(&self) -> Vec<Head> {
        vec![
            Head::Text(self.writer.say("template-says")),
            Head::Number(self.writer.say("version")),
            Head::Text(self.writer.say("template-state")),
            Head::Text(self.writer.say("template-approved-by")),
        ]
    }

    /// The versions, the newest first.
    fn versions(&self, state: &State, cursor: Option<i64>, found: &Page<Version>) -> Panel<Row> {
        let path = format!("/api/v1/reply-templates/{}", self.found.id);
        let next = |cursor| format!("{}/{}?cursor={cursor}", Tab::Templates.address(), self.found.id);
        Panel {
            id: "h-versions",
            title: self.writer.say("template-versions"),
            items: found.items.iter().map(|version| self.row(version)).collect(),
            nothing: self.writer.say("template-no-versions"),
            all: None,
            next: panel::next(self.writer, found.next_cursor.map(next)),
            foot: panel::current(
                self.writer,
                vec![self.writer.say("how-versions-of-template")],
                &query::call(&path, LIMIT, cursor),
                &state.settings.api_url,
            ),
        }
    }

    fn row(&self, version: &Version) -> Row {
        let writer = self.writer;
        let is_used =
            self.found.approved_version == Some(version.version) && self.found.state != TemplateState::Retired;
        let standing = if is_used {
            Badge { class: "good", text: writer.say("template-in-use") }
        } else if version.approved_at.is_some() {
            Badge { class: "", text: writer.say("template-was-approved") }
        } else {
            template_state(writer, TemplateState::Draft)
        };
        let made = writer.message("template-made-at").text("at", writer.moment(version.created_at));
        let approved = version.approved_at.map_or_else(|| "–".to_owned(), |at| writer.moment(at));
        Row {
            name: version.variations.join(" / "),
            address: None,
            below: Some(made.text("category", category(writer, version.category)).say().into()),
            cells: vec![
                number(writer, Some(version.version)),
                Cell::Badge(Some(standing)),
                Cell::Texts {
                    text: version.approved_by.clone().unwrap_or_else(|| "–".to_owned()),
                    below: Some(approved),
                    is_bad: false,
                },
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::social::{Category, Tongue, templates::Content};
    use time::macros::datetime;

    use super::*;
    use crate::text::tests::writer;

    fn template(state: TemplateState, approved_version: Option<i64>) -> Template {
        let texts = vec!["¡Hola {username}!".to_owned(), "Mirá {link}".to_owned()];
        let at = datetime!(2026-11-22 22:00 UTC);
        Template {
            id: TemplateId(7),
            content: Content::stored("Prices".into(), Category::PriceQuestion, Tongue::Spanish, texts),
            state,
            version: 2,
            approved_version,
            approved_by: None,
            approved_at: None,
            used_count: 0,
            created_at: at,
            updated_at: at,
        }
    }

    #[test]
    fn a_preview_fills_the_placeholders_and_says_where_a_link_is_missing() {
        let (writer, found) = (writer("es-AR"), template(TemplateState::Draft, None));
        let source = Source { writer: &writer, found: &found };
        let without = source.preview(&Links::default());
        assert_eq!(without.texts, ["¡Hola ana!"]);
        assert!(without.lacks.is_some());
        let links = Links { own_hosts: vec!["a.example".into()], link: Some("https://a.example/p".into()) };
        let with = source.preview(&links);
        assert_eq!(with.texts, ["¡Hola ana!", "Mirá https://a.example/p"]);
        assert!(with.lacks.is_none());
    }

    #[test]
    fn only_a_draft_is_approved_and_only_one_that_never_was_is_deleted() {
        let ids = |state, version| {
            let (writer, found) = (writer("en"), template(state, version));
            let source = Source { writer: &writer, found: &found };
            let forms = source.acts().into_iter().chain(source.forms(&Wanted::default(), None));
            forms.map(|form| form.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(TemplateState::Draft, None), ["h-approve", "h-change", "h-delete"]);
        assert_eq!(ids(TemplateState::Draft, Some(1)), ["h-approve", "h-change", "h-retire"]);
        assert_eq!(ids(TemplateState::Approved, Some(2)), ["h-change", "h-retire"]);
    }
}
