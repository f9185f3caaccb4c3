//! Signing up: an address, a link from a mail, then the shop.

use actix_web::{
    HttpRequest, HttpResponse,
    http::header,
    web::{Data, Form, Path, ReqData},
};
use domain::{
    UserId,
    accounts::{MAX_NAME_CHARS, NewUser, Plan},
    imports::CountryCode,
    log_in::Chosen,
    mail::Mail,
    money::Currency,
    sessions::LinkPurpose,
    texts::Locale,
    zone::Zone,
};
use serde::Deserialize;

use super::{
    entry::{self, Asked},
    html,
    reset::email,
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Kind, Model},
        panel::Way,
    },
};

const TITLE: &str = "sign-up-title";

/// What shops of a country sell in, and when their days begin.
const COUNTRIES: &[(&str, &str, &str)] = &[
    ("AR", "ARS", "America/Argentina/Buenos_Aires"),
    ("BO", "BOB", "America/La_Paz"),
    ("BR", "BRL", "America/Sao_Paulo"),
    ("CL", "CLP", "America/Santiago"),
    ("CO", "COP", "America/Bogota"),
    ("CR", "CRC", "America/Costa_Rica"),
    ("DO", "DOP", "America/Santo_Domingo"),
    ("EC", "USD", "America/Guayaquil"),
    ("ES", "EUR", "Europe/Madrid"),
    ("GB", "GBP", "Europe/London"),
    ("GT", "GTQ", "America/Guatemala"),
    ("MX", "MXN", "America/Mexico_City"),
    ("PE", "PEN", "America/Lima"),
    ("PT", "EUR", "Europe/Lisbon"),
    ("PY", "PYG", "America/Asuncion"),
    ("US", "USD", "America/New_York"),
    ("UY", "UYU", "America/Montevideo"),
];

fn asking(writer: &Writer) -> Model {
    let form = entry::form(vec![entry::email_field(writer)], writer.say("sign-up-go"));
    let mut model = entry::model(writer, TITLE, vec![writer.say("sign-up-what")], Some(form));
    model.ways.push(Way { text: writer.say("login-instead"), address: "/login".to_owned() });
    model
}

/// Why nobody can sign up here, if so.
fn closed(writer: &Writer, state: &State) -> Option<HttpResponse> {
    if !state.settings.is_open {
        return Some(html(ask::page(&entry::model(writer, TITLE, vec![writer.say("sign-up-closed")], None))));
    }
    (!state.settings.has_mail).then(|| entry::no_mail(writer, TITLE))
}

pub async fn get(request: HttpRequest, state: Data<State>) -> HttpResponse {
    let writer = writer(None, request.headers(), (state.clock)());
    closed(&writer, &state).unwrap_or_else(|| html(ask::page(&asking(&writer))))
}

pub async fn post(
    request: HttpRequest,
    fields: Form<Asked>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let writer = writer(None, request.headers(), (state.clock)());
    if let Some(closed) = closed(&writer, &state) {
        return Ok(closed);
    }
    entry::by_mail(Mail::SignUp, &fields, from.0, (TITLE, asking(&writer)), &writer, &state).await
}

#[derive(Deserialize, Default)]
pub struct Fields {
    shop: String,
    currency: String,
    zone: String,
    password: String,
}

/// What is wrong with each of the fields, in their order.
type Faults = [Option<String>; 4];

fn naming(writer: &Writer, fields: &Fields, faults: Faults) -> Model {
    let [shop_error, currency_error, zone_error, password_error] = faults;
    let currencies: std::collections::BTreeSet<_> = COUNTRIES.iter().map(|(_, currency, _)| *currency).collect();
    let zones = COUNTRIES.iter().map(|(_, _, zone)| *zone).collect();
    let line = |name, key: &str, kind, value: &str, error| Field {
        value: value.to_owned(),
        error,
        ..entry::field(name, writer.say(key), kind)
    };
    let form = entry::form(
        vec![
            line("shop", "shop-name", Kind::Line("text", "organization"), &fields.shop, shop_error),
            Field {
                help: Some(writer.say("currency-help")),
                ..line(
                    "currency",
                    "currency",
                    Kind::Proposed(currencies.into_iter().collect()),
                    &fields.currency,
                    currency_error,
                )
            },
            Field {
                help: Some(writer.say("zone-help")),
                ..line("zone", "zone", Kind::Proposed(zones), &fields.zone, zone_error)
            },
            Field { error: password_error, ..entry::new_password_field(writer) },
        ],
        writer.say("sign-up-finish"),
    );
    entry::model(writer, TITLE, vec![writer.say("sign-up-free")], Some(form))
}

/// The country that the browser's language names.
fn country(request: &HttpRequest) -> Option<CountryCode> {
    let accepted = request.headers().get(header::ACCEPT_LANGUAGE)?.to_str().ok()?;
    accepted.split([',', ';']).find_map(|tag| tag.trim().split_once('-')?.1.parse().ok())
}

pub async fn open(request: HttpRequest, token: Path<String>, state: Data<State>) -> Result<HttpResponse, PageError> {
    let writer = writer(None, request.headers(), (state.clock)());
    if entry::look(&token, LinkPurpose::SignUp, &state).await?.is_none() {
        return Ok(entry::gone(&writer));
    }
    let country = country(&request);
    let known = COUNTRIES.iter().find(|(code, ..)| country.as_ref().is_some_and(|country| country.as_str() == *code));
    let (_, currency, zone) = known.copied().unwrap_or(("", "USD", "UTC"));
    let fields = Fields { currency: currency.to_owned(), zone: zone.to_owned(), ..Fields::default() };
    Ok(html(ask::page(&naming(&writer, &fields, Faults::default()))))
}

/// The fields as what they mean, or what is wrong with them.
fn read(fields: &Fields, writer: &Writer) -> Result<(String, Currency, Zone), Faults> {
    let shop = fields.shop.trim();
    let shop_fault = shop.is_empty() || shop.chars().count() > MAX_NAME_CHARS || shop.chars().any(char::is_control);
    let currency = Currency::of_account(&fields.currency.trim().to_uppercase());
    let zone = fields.zone.trim().parse();
    match (shop_fault, currency, zone) {
        (false, Ok(currency), Ok(zone)) => Ok((shop.to_owned(), currency, zone)),
        (shop_fault, currency, zone) => Err([
            shop_fault.then(|| writer.say("shop-name-wrong")),
            currency.err().map(|_| writer.say("currency-wrong")),
            zone.err().map(|_| writer.say("zone-wrong")),
            None,
        ]),
    }
}

/// Makes person and accounts, and logs in.
pub async fn finish(
    request: HttpRequest,
    token: Path<String>,
    fields: Form<Fields>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(None, request.headers(), now);
    let Some((token, link)) = entry::look(&token, LinkPurpose::SignUp, &state).await? else {
        return Ok(entry::gone(&writer));
    };
    let (name, currency, timezone) = match read(&fields, &writer) {
        Ok(read) => read,
        Err(faults) => return Ok(entry::unprocessable(&naming(&writer, &fields, faults))),
    };
    let email = email(link);
    let password = match entry::chosen(&fields.password, &email, &[&name]) {
        Ok(password) => password,
        Err(fault) => {
            let faults = [None, None, None, Some(entry::fault(&writer, fault))];
            return Ok(entry::unprocessable(&naming(&writer, &fields, faults)));
        }
    };
    let language = writer.locale().language;
    let locale = Locale { language, region: country(&request) };
    let random = std::iter::repeat_with(state.token).flat_map(|token| token.hash().0);
    let user = NewUser { id: UserId::generate(random), name, currency, timezone, plan: Plan::Free, locale, now };
    let password = state.log_in.passwords.hash(password, state.log_in.salt()).await?;
    let owner = Chosen { name: name_of(&email), password, language };
    let made = state.mail_links.sign_up(token.hash(), user, owner, from.0.to_string()).await;
    let Some(person) = entry::used(made)? else { return Ok(entry::gone(&writer)) };
    entry::let_in(person, &request, from.0, &state, now).await
}

/// What somebody is called until they say otherwise: what stands before the @.
pub fn name_of(email: &str) -> String {
    email.split('@').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn every_proposal_is_one_that_is_taken() {
        for (country, currency, zone) in COUNTRIES {
            assert!(country.parse::<CountryCode>().is_ok(), "{country}");
            let fields = Fields {
                shop: "Shop".into(),
                currency: (*currency).into(),
                zone: (*zone).into(),
                password: String::new(),
            };
            assert!(read(&fields, &writer("en")).is_ok(), "{country}");
        }
    }

    #[test]
    fn each_field_says_what_is_wrong_with_it() {
        let fields =
            Fields { shop: " ".into(), currency: "pesos".into(), zone: "Mars".into(), password: String::new() };
        let faults = read(&fields, &writer("en")).unwrap_err();
        assert_eq!(faults.map(|fault| fault.is_some()), [true, true, true, false]);
    }
}
