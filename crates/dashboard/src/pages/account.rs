//! Who is logged in, and the shop that is looked at: what each is called, and how its days, texts and costs are meant.

mod shop;

use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form},
};
use domain::{
    audit::Action,
    language::Language,
    people::{Act, MAX_NAME_CHARS, Shop as Membership, Theme},
    text,
};
use serde::Deserialize;

use self::shop::{Faults, Shop, form};
use super::{
    confirm, entry, query, see,
    settings::{self, Tab},
    writer,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Kind, Said},
        panel::Way,
        settings::{Part, Row},
    },
};

const PATH: &str = Tab::Account.address();
/// Languages by the names that they have in themselves.
const LANGUAGES: [(Language, &str); 3] = [
    (Language::English, "English"),
    (Language::Spanish, "Español"),
    (Language::BrazilianPortuguese, "Português (Brasil)"),
];

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let saved = query::one(&request, "saved")?.unwrap_or(false);
    let said = |writer: &Writer| if saved { settings::done(writer, "saved") } else { None };
    page(&request, &viewer, &state, said, None).await
}

/// The page; `sent` is a form of the shop that could not be taken.
async fn page(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    said: impl FnOnce(&Writer) -> Option<Said>,
    sent: Option<(Shop, Faults)>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(Some(viewer), request.headers(), (state.clock)());
    let assumed = state.profit.assumptions(viewer.account()).await?;
    let account = &viewer.session().account;
    let mut shop = Part::new(
        "h-shop",
        writer.say("shop-title"),
        vec![
            writer.message("shop-currency").text("currency", account.currency).say(),
            writer.message("shop-plan").text("plan", writer.say(&format!("plan-{}", account.plan))).say(),
        ],
    );
    let is_refused = sent.is_some();
    let (fields, faults) = sent.unwrap_or_else(|| (Shop::of(&writer, account, &assumed), Faults::default()));
    let may_change = viewer.may(Act::Administer);
    if may_change && viewer.session().is_confirmed(writer.now) {
        shop.forms.push(form(&writer, &fields, &faults, &state.settings.holiday_countries));
    } else {
        shop.paragraphs.extend(shop::told(&writer, account, &assumed));
        if may_change {
            shop.ways.push(Way { text: writer.say("confirm-to-change"), address: confirm::address(PATH) });
        } else {
            shop.paragraphs.push(writer.say("shop-owners"));
        }
    }
    let mut parts = vec![you(&writer, viewer), shop, elsewhere(&writer, viewer)];
    let shops = state.people.shops(viewer.session().person.id).await?;
    if shops.len() > 1 {
        parts.insert(1, others(&writer, viewer, &shops));
    }
    let mut page = settings::page(viewer, state, &writer, Tab::Account, said(&writer), parts).await?;
    if is_refused {
        *page.status_mut() = StatusCode::BAD_REQUEST;
    }
    Ok(page)
}

/// The person who is logged in.
fn you(writer: &Writer, viewer: &Viewer) -> Part {
    let person = &viewer.session().person;
    let of_shop = (String::new(), writer.say("language-of-shop"));
    let language = |(language, name): &(Language, &str)| (language.to_string(), (*name).to_owned());
    let theme = |theme: &Theme| (theme.to_string(), writer.say(&format!("theme-{theme}")));
    let languages = std::iter::once(of_shop).chain(LANGUAGES.iter().map(language)).collect();
    let field = |name, label: &str, value: String, kind| Field { value, ..entry::field(name, writer.say(label), kind) };
    let mut form = entry::form(
        vec![
            field("name", "your-name", person.name.clone(), Kind::Line("text", "name")),
            field(
                "language",
                "your-language",
                person.language.map(|language| language.to_string()).unwrap_or_default(),
                Kind::Select(languages),
            ),
            field(
                "theme",
                "your-theme",
                person.theme.to_string(),
                Kind::Select(Theme::ALL.iter().map(theme).collect()),
            ),
        ],
        writer.say("save"),
    );
    form.action = "/settings/you".to_owned();
    let mut part = Part::new("h-you", writer.say("you"), vec![]);
    part.forms.push(form);
    part
}

/// The shops that the person is a member of, each but the one that is looked at with the way there.
fn others(writer: &Writer, viewer: &Viewer, shops: &[Membership]) -> Part {
    let mut part = Part::new("h-shops", writer.say("your-shops"), vec![]);
    let row = |shop: &Membership| {
        let is_here = shop.user == viewer.session().account.user_id;
        let go = || ask::Form {
            action: "/shop".to_owned(),
            hidden: vec![("user", shop.user.to_string())],
            ..entry::form(vec![], writer.message("shop-go").text("shop", &shop.name).say())
        };
        let role = writer.say(&format!("role-{}", shop.role));
        let about = if is_here { writer.message("shop-here").text("role", role).say() } else { role };
        Row { name: shop.name.clone(), about: about.into(), forms: if is_here { vec![] } else { vec![go()] } }
    };
    part.rows = shops.iter().map(row).collect();
    part
}

/// What else is set, and where.
fn elsewhere(writer: &Writer, viewer: &Viewer) -> Part {
    let mut part = Part::new("h-elsewhere", writer.say("elsewhere"), vec![]);
    let tabs = [Tab::Security, Tab::SecondFactor, Tab::Sessions, Tab::People, Tab::Activity];
    let may = |tab: &Tab| !tab.is_for_owners() || viewer.may(Act::Administer);
    part.ways = tabs
        .into_iter()
        .filter(may)
        .map(|tab| Way { text: writer.say(tab.name()), address: tab.address().to_owned() })
        .chain([Way { text: writer.say("credits"), address: "/credits".to_owned() }])
        .collect();
    part
}

#[derive(Deserialize)]
pub struct You {
    name: String,
    /// Empty: that of the shop.
    #[serde(default)]
    language: String,
    theme: Theme,
}

/// How somebody is called and sees the pages, by themselves.
pub async fn set_you(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<You>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let You { name, language, theme } = fields.into_inner();
    let name = name.trim();
    if name.is_empty() || text::check(name, MAX_NAME_CHARS).is_err() || name.chars().any(char::is_control) {
        return page(&request, &viewer, &state, |writer| settings::fault(writer.say("your-name-bad")), None).await;
    }
    let language = match language.as_str() {
        "" => None,
        text => Some(text.parse().map_err(|_| PageError::Invalid("language"))?),
    };
    state.people.set_view(viewer.session().person.id, name, language, theme).await?;
    Ok(see(&format!("{PATH}?saved=true")))
}

/// Changes the shop that is looked at. What it does to figures follows with the jobs, which run at once.
pub async fn set_shop(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Shop>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let writer = writer(Some(&viewer), request.headers(), now);
    let change = match fields.change(&writer, &state.settings.holiday_countries) {
        Ok(change) => change,
        Err(faults) => return page(&request, &viewer, &state, |_| None, Some((fields.into_inner(), faults))).await,
    };
    let session = viewer.session();
    let assumed = state.profit.assumptions(viewer.account()).await?;
    let before = Shop::of(&writer, &session.account, &assumed);
    let (was, is) = before.changed(&fields);
    if is.is_empty() {
        return Ok(see(&format!("{PATH}?saved=true")));
    }
    let mut note = viewer.note(Action::AccountChanged);
    (note.target, note.before, note.after) = (Some(session.account.name.clone()), Some(was.into()), Some(is.into()));
    state.accounts.change(viewer.account(), change, Some(note), now).await?.ok_or(PageError::NotFound)?;
    state.job_requests.request(viewer.account(), None, now).await?;
    Ok(see(&format!("{PATH}?saved=true")))
}
