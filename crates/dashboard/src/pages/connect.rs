//! Connecting a shop: to the platform, and back from it.

use ::web::{detached::detached, random};
use actix_web::{
    HttpRequest, HttpResponse,
    http::StatusCode,
    web::{Data, Form as Fields},
};
use app::shops::connect::{AuthorizeFailure, Begun, CompleteFailure, ConnectService, Owner, Randomness};
use domain::{
    accounts::Platform,
    audit::Action,
    integrations::Integration,
    shops::{AuthorizeError, CompleteError, authorizations::Initiator, connections::ConnectError},
};
use serde::Deserialize;
use url::Url;

use super::{
    html_with,
    integrations::{name, not_configured},
    see,
    shell::shell,
};
use crate::{
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        connect::{self as view, Form, Model, Shop},
        layout::Here,
        panel::Way,
    },
};

/// Characters of what a platform says.
const MAX_SAID: usize = 300;

/// Where a platform sends the owner back to, which has to be registered with its app.
pub fn redirect_uri(site: &Url, platform: Platform) -> String {
    format!("{}/integrations/{platform}/callback", site.as_str().trim_end_matches('/'))
}

/// What begins to connect a shop.
pub fn form(writer: &Writer, platform: Platform) -> Form {
    let asked = match platform {
        Platform::Shopify => Some(("shop-host", "example.myshopify.com", true)),
        // It is needed of people only who reach several.
        Platform::Meta => Some(("ad-account", "act_1234567890", false)),
        Platform::GoogleAds => Some(("google-account", "123-456-7890", false)),
        Platform::Tiendanube | Platform::Mercadolibre => None,
    };
    let shop = asked.map(|(text, example, is_needed)| Shop {
        id: format!("shop-{platform}"),
        name: "shop",
        label: writer.say(text),
        help: writer.say(&format!("{text}-help")),
        example,
        value: String::new(),
        is_needed,
        error: None,
    });
    let go = title(writer, platform);
    Form { address: format!("/integrations/{platform}/connect"), fixed: Vec::new(), shop, go }
}

/// What begins to connect the same shop as before. The number of an ad account is asked for again.
pub fn again(writer: &Writer, integration: &Integration) -> Form {
    let mut form = form(writer, integration.provider);
    if integration.provider == Platform::Shopify {
        (form.fixed, form.shop) = (vec![("shop", integration.shop.clone())], None);
    }
    Form { go: writer.say("connection-again"), ..form }
}

#[derive(Deserialize)]
pub struct Asked {
    shop: Option<String>,
}

/// Begins, and shows the way to the platform.
pub async fn begin(
    request: HttpRequest,
    viewer: Viewer,
    fields: Fields<Asked>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let platform = platform(&request)?;
    let (service, owner) = (service(&state, platform), owner(&viewer));
    let shop = fields.into_inner().shop.map(|shop| shop.trim().to_owned()).filter(|shop| !shop.is_empty());
    let begun = service.authorize(&owner, platform, shop.as_deref(), randomness()?, None).await;
    let shown = match begun {
        Ok(begun) => going(&writer, platform, begun.value),
        Err(failure) => not_begun(&writer, platform, shop, failure, &state.settings.public_url)?,
    };
    answer(&viewer, &state, &writer, title(&writer, platform), shown).await
}

/// Completes what this session began, with what the platform sent its owner back with.
pub async fn callback(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = super::writer(Some(&viewer), request.headers(), (state.clock)());
    let platform = platform(&request)?;
    let (service, owner, query) = (service(&state, platform), owner(&viewer), request.query_string().to_owned());
    let note = Some(viewer.note(Action::ShopConnected));
    let completed = detached(async move { service.complete(&owner, platform, &query, None, note).await });
    match completed.await.map_err(|error| PageError::Internal(error.to_string()))? {
        Ok(made) => Ok(see(&format!("/integrations/{}?done=connected", made.value.id))),
        Err(failure) => {
            let shown = not_completed(&writer, platform, failure, &state.settings.public_url)?;
            answer(&viewer, &state, &writer, title(&writer, platform), shown).await
        }
    }
}

/// What a page about connecting shows beside its frame.
#[derive(Default)]
pub struct Shown {
    pub status: StatusCode,
    pub told: Vec<String>,
    pub refused: Option<String>,
    pub english: Option<String>,
    pub out: Option<Way>,
    pub forms: Vec<Form>,
}

pub async fn answer(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    title: String,
    shown: Shown,
) -> Result<HttpResponse, PageError> {
    let Shown { status, told, refused, english, out, forms } = shown;
    let model = Model {
        shell: shell(viewer, state, writer, Here::Integrations, title.clone()).await?,
        title,
        crumb: Way { text: writer.say("integrations"), address: Here::Integrations.address().to_owned() },
        told,
        refused,
        english,
        out,
        forms,
    };
    Ok(html_with(status, view::page(&model)))
}

fn title(writer: &Writer, platform: Platform) -> String {
    writer.message("connect-on").text("platform", name(writer, platform)).say()
}

/// The way to the platform.
fn going(writer: &Writer, platform: Platform, begun: Begun) -> Shown {
    let until = writer.message("connect-until").text("time", writer.time(begun.state_expires_at)).say();
    let text = writer.message("connect-go").text("platform", name(writer, platform)).say();
    Shown {
        told: vec![writer.say(&format!("reads-{platform}")), until],
        out: Some(Way { text, address: begun.url }),
        ..Shown::default()
    }
}

pub fn refused(status: StatusCode, text: String, forms: Vec<Form>) -> Shown {
    Shown { status, refused: Some(text), forms, ..Shown::default() }
}

/// That a platform refused, and what it said, whose own words may be long.
pub fn said(writer: &Writer, error: &CompleteError, forms: Vec<Form>) -> Shown {
    let english = error.to_string().chars().take(MAX_SAID).collect();
    Shown { english: Some(english), ..refused(StatusCode::BAD_REQUEST, writer.say("connect-refused"), forms) }
}

fn not_begun(
    writer: &Writer,
    platform: Platform,
    given: Option<String>,
    failure: AuthorizeFailure,
    site: &Url,
) -> Result<Shown, PageError> {
    let wrong = |error: &str| {
        let mut again = form(writer, platform);
        if let Some(shop) = &mut again.shop {
            shop.error = Some(writer.say(error));
            shop.value = given.unwrap_or_default();
        }
        Shown { status: StatusCode::BAD_REQUEST, forms: vec![again], ..Shown::default() }
    };
    match failure {
        AuthorizeFailure::NotConfigured(error) => {
            Ok(refused(StatusCode::CONFLICT, not_configured(writer, platform, error, site), Vec::new()))
        }
        AuthorizeFailure::Refused(AuthorizeError::ShopRequired) => Ok(wrong("shop-host-needed")),
        AuthorizeFailure::Refused(AuthorizeError::InvalidShop) if platform == Platform::Meta => {
            Ok(wrong("ad-account-wrong"))
        }
        AuthorizeFailure::Refused(AuthorizeError::InvalidShop) if platform == Platform::GoogleAds => {
            Ok(wrong("google-account-wrong"))
        }
        AuthorizeFailure::Refused(AuthorizeError::InvalidShop) => Ok(wrong("shop-host-wrong")),
        AuthorizeFailure::Refused(AuthorizeError::UnsupportedCountry) => {
            Ok(refused(StatusCode::CONFLICT, writer.say("connect-country"), Vec::new()))
        }
        AuthorizeFailure::AlreadyConnected => {
            Ok(refused(StatusCode::CONFLICT, writer.say("connect-another"), Vec::new()))
        }
        AuthorizeFailure::Seal(error) => Err(PageError::Internal(error.to_string())),
        AuthorizeFailure::Idempotency(error) => Err(error.into()),
        AuthorizeFailure::Store(error) => Err(error.into()),
    }
}

fn not_completed(
    writer: &Writer,
    platform: Platform,
    failure: CompleteFailure,
    site: &Url,
) -> Result<Shown, PageError> {
    let again = || vec![form(writer, platform)];
    let conflict = |text: String| Ok(refused(StatusCode::CONFLICT, text, Vec::new()));
    match failure {
        CompleteFailure::NotConfigured(error) => conflict(not_configured(writer, platform, error, site)),
        CompleteFailure::InvalidState => Ok(refused(StatusCode::BAD_REQUEST, writer.say("connect-state"), again())),
        CompleteFailure::Platform(error) if error.is_trouble_there() => {
            Ok(refused(StatusCode::SERVICE_UNAVAILABLE, writer.say("connect-away"), again()))
        }
        CompleteFailure::Platform(CompleteError::SeveralAccounts(accounts)) => {
            let text = writer.message("connect-several").text("accounts", accounts.join(", ")).say();
            Ok(refused(StatusCode::BAD_REQUEST, text, again()))
        }
        CompleteFailure::Platform(error) => Ok(said(writer, &error, again())),
        CompleteFailure::CurrencyMismatch { shop, account } => {
            conflict(writer.message("connect-currency").text("shop", shop).text("account", account).say())
        }
        CompleteFailure::Connect(ConnectError::AlreadyConnected) => conflict(writer.say("connect-another")),
        CompleteFailure::Connect(ConnectError::ConnectedElsewhere) => conflict(writer.say("connect-elsewhere")),
        CompleteFailure::Connect(ConnectError::Store(error)) => Err(error.into()),
        CompleteFailure::Idempotency(error) => Err(error.into()),
        CompleteFailure::Seal(error) => Err(PageError::Internal(error.to_string())),
    }
}

fn platform(request: &HttpRequest) -> Result<Platform, PageError> {
    request.match_info().get("provider").and_then(|name| name.parse().ok()).ok_or(PageError::NotFound)
}

/// The service with the dashboard's own address to come back to.
fn service(state: &State, platform: Platform) -> ConnectService {
    let redirect_uri = redirect_uri(&state.settings.public_url, platform);
    ConnectService { redirect_uri, ..state.shops.clone() }
}

pub fn owner(viewer: &Viewer) -> Owner {
    let session = viewer.session();
    let by = Initiator { user: session.account.user_id.clone(), session: Some(session.id) };
    Owner { account: viewer.account(), by }
}

pub fn randomness() -> Result<Randomness, PageError> {
    let bytes = || random::bytes().map_err(|error| PageError::Internal(error.to_string()));
    Ok(Randomness { state: bytes()?, verifier: bytes()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn the_shop_is_asked_for_first_where_the_platform_has_to_know_it() {
        let needs = |platform: &Platform| form(&writer("en"), *platform).shop.map(|shop| shop.is_needed);
        let asked: Vec<_> = Platform::ALL.iter().map(needs).collect();
        assert_eq!(asked, [Some(true), None, None, Some(false), Some(false)]);
    }

    #[test]
    fn a_wrong_shop_is_said_at_its_field_with_what_was_written() {
        let failure = AuthorizeFailure::Refused(AuthorizeError::InvalidShop);
        let site = Url::parse("http://127.0.0.1:8081").unwrap();
        let mut shown = not_begun(&writer("es"), Platform::Shopify, Some("a b".into()), failure, &site).unwrap();
        let shop = shown.forms.remove(0).shop.unwrap();
        assert_eq!((shown.status, shop.value.as_str(), shop.error.is_some()), (StatusCode::BAD_REQUEST, "a b", true));
    }

    #[test]
    fn what_came_back_too_late_can_be_begun_again() {
        let site = Url::parse("http://127.0.0.1:8081").unwrap();
        let shown = not_completed(&writer("en"), Platform::Tiendanube, CompleteFailure::InvalidState, &site).unwrap();
        assert!(shown.refused.is_some() && shown.forms.len() == 1 && shown.out.is_none());
    }

    #[test]
    fn what_the_platform_says_is_no_sentence_of_ours() {
        let site = Url::parse("http://127.0.0.1:8081").unwrap();
        let failure = CompleteFailure::Platform(CompleteError::Forged);
        let shown = not_completed(&writer("es"), Platform::Tiendanube, failure, &site).unwrap();
        assert_eq!(shown.refused.as_deref(), Some("No se conectó nada. El motivo, en inglés:"));
        assert_eq!(shown.english.as_deref(), Some("the callback is not signed by the platform"));
    }
}
