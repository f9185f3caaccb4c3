//! The answers that people write and approve, and a new one.

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form as Sent},
};
use domain::{
    audit::Action,
    page::{Page, PageRequest},
    people::Act,
    social::{
        Category, Tongue,
        templates::{CreateError, NewTemplate, Template, TemplateFilter, TemplateState},
    },
};

use super::{
    bot::{self, Tab, category, language, pick, template_state},
    fields::Fields,
    html_with, panel, query, see,
    shell::shell,
    template_form::{Wanted, fault, fields},
    window,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        form::{Button, Field, Filters, Form},
        layout::Here,
        panel::Panel,
        reply_templates::{self as view, Model},
        rows::{Cell, Head, Row},
    },
};

/// Templates of a page.
const LIMIT: i64 = 25;
const DONE: [&str; 1] = ["template-deleted"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Query {
    filter: TemplateFilter,
    cursor: Option<i64>,
}

impl Query {
    fn of(request: &HttpRequest) -> Result<Self, PageError> {
        let filter = TemplateFilter {
            category: query::one(request, "category")?,
            language: query::one(request, "language")?,
            state: query::one(request, "state")?,
        };
        Ok(Self { filter, cursor: query::cursor(request)? })
    }

    fn pairs(self) -> [Option<String>; 4] {
        let TemplateFilter { category, language, state } = self.filter;
        [
            category.map(|category| format!("category={category}")),
            language.map(|language| format!("language={language}")),
            state.map(|state| format!("state={state}")),
            self.cursor.map(|cursor| format!("cursor={cursor}")),
        ]
    }

    /// The call that gives the same.
    fn api(self) -> String {
        let [category, language, state, cursor] = self.pairs();
        query::address("/api/v1/reply-templates", [category, language, state, Some(format!("limit={LIMIT}")), cursor])
    }
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    draw(&request, &viewer, &state, &Wanted::default(), None).await
}

/// Makes a draft.
pub async fn create(
    request: HttpRequest,
    viewer: Viewer,
    sent: Sent<Fields>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let wanted = Wanted::sent(&sent)?;
    let Wanted { name, category, language, variations } = wanted.clone();
    let category = category.ok_or(PageError::Invalid("category"))?;
    let language = language.ok_or(PageError::Invalid("language"))?;
    let entry = viewer.note(Action::TemplateCreated);
    let new = NewTemplate { name, category, language, variations };
    let fault = match state.reply_templates.create(viewer.account(), new, Some(entry), None, writer.now).await {
        Ok(made) => return Ok(see(&format!("{}/{}?done=template-made", Tab::Templates.address(), made.value.id))),
        Err(CreateError::Invalid(invalid)) => fault(&writer, &invalid),
        Err(CreateError::LimitReached) => ("name", writer.say("template-limit")),
        Err(CreateError::Idempotency(error)) => return Err(error.into()),
    };
    draw(&request, &viewer, &state, &wanted, Some(fault)).await
}

async fn draw(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    wanted: &Wanted,
    fault: Option<(&'static str, String)>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(viewer), request.headers(), (state.clock)());
    let (query, account) = (Query::of(request)?, viewer.account());
    let done = bot::done(&writer, request, &DONE)?;
    let setup = state.social_settings.setup(account).await?;
    let page = PageRequest { limit: LIMIT, cursor: query.cursor };
    let found = state.reply_templates.page(account, query.filter, page).await?;
    let title = writer.say("reply-templates");
    let status = if fault.is_some() { StatusCode::BAD_REQUEST } else { StatusCode::OK };
    let model = Model {
        shell: shell(viewer, state, &writer, Here::Conversations, title.clone()).await?,
        title,
        place: window::place(&writer),
        tabs: bot::tabs(&writer, Tab::Templates),
        standing: bot::standing(viewer, &writer, &setup),
        done,
        filters: filters(&writer, query.filter),
        head: head(&writer),
        found: panel(&writer, state, query, &found),
        making: viewer.may(Act::Change).then(|| form(&writer, wanted, fault.as_ref())),
    };
    Ok(html_with(status, view::page(&model)))
}

fn filters(writer: &Writer, filter: TemplateFilter) -> Filters {
    let any = || Some(writer.say("any"));
    let about = |one: &Category| (*one, one.to_string(), category(writer, *one));
    let tongue = |one: &Tongue| (*one, one.to_string(), language(writer, *one));
    let stand = |one: &TemplateState| (*one, one.to_string(), template_state(writer, *one).text);
    let fields: Vec<Field> = vec![
        pick("category", writer.say("conversation-comment"), any(), Category::ALL.iter().map(about), filter.category),
        pick("language", writer.say("template-language"), any(), Tongue::ALL.iter().map(tongue), filter.language),
        pick("state", writer.say("template-state"), any(), TemplateState::ALL.iter().map(stand), filter.state),
    ];
    Filters {
        id: "h-filter",
        action: Tab::Templates.address().to_owned(),
        fields,
        go: writer.say("filter"),
        clear: writer.say("filter-clear"),
    }
}

fn head(writer: &Writer) -> Vec<Head> {
    vec![
        Head::Text(writer.say("template-name")),
        Head::Text(writer.say("template-state")),
        Head::Number(writer.say("template-version")),
        Head::Number(writer.say("template-in-use")),
        Head::Number(writer.say("template-used")),
    ]
}

fn panel(writer: &Writer, state: &State, query: Query, found: &Page<Template>) -> Panel<Row> {
    let address = |cursor| query::address(Tab::Templates.address(), Query { cursor: Some(cursor), ..query }.pairs());
    Panel {
        id: "h-templates",
        title: writer.say("templates-title"),
        items: found.items.iter().map(|template| row(writer, template)).collect(),
        nothing: writer.say("templates-none"),
        all: None,
        next: panel::next(writer, found.next_cursor.map(address)),
        foot: panel::current(writer, vec![writer.say("how-templates")], &query.api(), &state.settings.api_url),
    }
}

fn row(writer: &Writer, template: &Template) -> Row {
    let content = &template.content;
    let about = format!("{} · {}", category(writer, content.category()), language(writer, content.language()));
    Row {
        name: content.name().to_owned(),
        address: Some(format!("{}/{}", Tab::Templates.address(), template.id)),
        below: Some(about.into()),
        cells: vec![
            Cell::Badge(Some(template_state(writer, template.state))),
            number(writer, Some(template.version)),
            number(writer, template.approved_version),
            number(writer, Some(template.used_count)),
        ],
    }
}

/// A count or a version; a dash where there is none.
pub fn number(writer: &Writer, known: Option<i64>) -> Cell {
    Cell::Number {
        text: known.map_or_else(|| "–".to_owned(), |known| writer.number(known.into(), 0)),
        value: known.map(|known| known.to_string()),
    }
}

fn form(writer: &Writer, wanted: &Wanted, fault: Option<&(&'static str, String)>) -> Form {
    Form {
        id: "h-new",
        title: writer.say("template-new"),
        about: vec![writer.say("template-new-about")],
        is_get: false,
        action: Tab::Templates.address().to_owned(),
        hidden: vec![],
        fields: fields(writer, wanted, fault),
        buttons: vec![Button::main(writer.say("template-new-go"))],
    }
}
