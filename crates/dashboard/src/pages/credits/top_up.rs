//! How to get more: by hand at the payment gateway, or by themselves.

use domain::{
    accounts::Mode,
    credits::{
        AutoTopup,
        auto_topup::{Asked, AutoTopupChange, InvalidSettings, MAX_MONTHLY_CAP, MAX_THRESHOLD, SwitchedOff, checked},
    },
    payments::{CreditPack, Price, PriceList},
    people::Act,
};
use rust_decimal::{Decimal, prelude::ToPrimitive};
use serde::Deserialize;

use super::super::{confirm, panel};
use crate::{
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        credits::Auto,
        form::{Button, Field, Form, Input, Pick},
        layout::Here,
    },
};

/// An amount with its currency.
pub fn price(writer: &Writer, price: &Price) -> String {
    let number = writer.number(price.amount, price.currency.exponent());
    writer.message("money").text("number", number).text("currency", price.currency).say()
}

pub fn credits(writer: &Writer, count: i64) -> String {
    writer.message("credits-count").count("count", count).say()
}

/// The packs that are for sale; else why none can be bought.
pub fn buy(viewer: &Viewer, state: &State, writer: &Writer) -> Form {
    let account = &viewer.session().account;
    let packs = state.payments.as_ref().map(|service| service.prices.packs_in(account.currency)).unwrap_or_default();
    let form = Form {
        id: "h-buy",
        title: writer.say("buy-title"),
        about: vec![],
        is_get: false,
        action: "/credits/checkout".to_owned(),
        hidden: vec![],
        fields: vec![],
        buttons: vec![],
    };
    let why = match (account.mode, packs.is_empty()) {
        (Mode::Test, _) => Some("buy-test"),
        (Mode::Live, true) => Some("buy-nothing"),
        (Mode::Live, false) if !viewer.may(Act::Administer) => Some("buy-owners"),
        (Mode::Live, false) => None,
    };
    match why {
        Some(why) => Form { about: vec![writer.say(why)], ..form },
        None => {
            let packs = packs.iter().enumerate().map(|(index, pack)| pick(writer, pack, index == 0)).collect();
            let form = Form {
                about: vec![writer.say("buy-about")],
                fields: vec![Field {
                    name: "pack",
                    label: writer.say("buy-pack"),
                    help: None,
                    error: None,
                    input: Input::Radios(packs),
                }],
                buttons: vec![Button::main(writer.say("buy-go"))],
                ..form
            };
            confirm::first(writer, viewer, Here::Credits.address(), form)
        }
    }
}

fn pick(writer: &Writer, pack: &CreditPack, is_chosen: bool) -> Pick {
    let text = writer
        .message("pack-for")
        .text("credits", credits(writer, pack.credits.get()))
        .text("price", price(writer, &pack.price))
        .say();
    Pick { value: pack.key.clone(), text, is_chosen }
}

/// What the form sends.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct AutoFields {
    enabled: Option<String>,
    #[serde(default)]
    threshold: String,
    #[serde(default)]
    amount: String,
    #[serde(default)]
    cap: String,
}

/// The field at fault, and its text with what is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    field: &'static str,
    /// What is allowed at least or at most.
    limit: i64,
}

impl AutoFields {
    fn of(settings: &AutoTopup) -> Self {
        let number = |number: i64| if number > 0 { number.to_string() } else { String::new() };
        Self {
            enabled: settings.enabled.then(|| "on".to_owned()),
            threshold: number(settings.threshold),
            amount: number(settings.top_up_amount),
            cap: settings.monthly_cap.map(number).unwrap_or_default(),
        }
    }

    /// The change that is asked for, by the rules that the API goes by.
    ///
    /// # Errors
    /// The first field at fault.
    pub fn change(&self, writer: &Writer, prices: &PriceList) -> Result<AutoTopupChange, Fault> {
        let whole = |number: &Decimal| number.fract().is_zero();
        let number = |field: &'static str, text: &str, limit| match text.trim() {
            "" => Ok(None),
            text => match writer.read(text).filter(whole).and_then(|number| number.to_i64()) {
                Some(number) => Ok(Some(number)),
                None => Err(Fault { field, limit }),
            },
        };
        let asked = Asked {
            enabled: self.enabled.is_some(),
            threshold: number("threshold", &self.threshold, MAX_THRESHOLD)?,
            top_up_amount: number("amount", &self.amount, 0)?,
            monthly_cap: number("cap", &self.cap, 1)?,
        };
        checked(asked, prices).map_err(|invalid| match invalid {
            InvalidSettings::Missing("threshold") | InvalidSettings::Threshold => {
                Fault { field: "threshold", limit: MAX_THRESHOLD }
            }
            InvalidSettings::Missing(_) | InvalidSettings::Size(_) => Fault { field: "amount", limit: 0 },
            InvalidSettings::Cap(least) => Fault { field: "cap", limit: least },
        })
    }
}

/// When credits are bought by themselves, and the form that says so; `sent` is what was wrong.
pub fn auto(
    viewer: &Viewer,
    state: &State,
    writer: &Writer,
    settings: &AutoTopup,
    sent: Option<(AutoFields, Fault)>,
) -> Auto {
    let sells = state.payments.is_some() && viewer.session().account.mode == Mode::Live;
    let form = (sells && viewer.may(Act::Administer)).then(|| {
        let prices = state.payments.as_ref().map(|service| service.prices.sizes()).unwrap_or_default();
        confirm::first(writer, viewer, Here::Credits.address(), form(writer, settings, &prices, sent))
    });
    Auto {
        title: writer.say("auto-title"),
        said: said(writer, settings),
        english: settings.disabled_reason.clone().filter(|why| SwitchedOff::read(why).is_none()),
        form,
        foot: panel::current(writer, vec![writer.say("how-auto")], "/api/v1/credits", &state.settings.api_url),
    }
}

/// How it stands, a paragraph each.
fn said(writer: &Writer, settings: &AutoTopup) -> Vec<String> {
    let mut said = Vec::new();
    if settings.enabled {
        let message = writer.message("auto-on").count("threshold", settings.threshold);
        said.push(message.text("credits", credits(writer, settings.top_up_amount)).say());
        said.push(match settings.monthly_cap {
            Some(cap) => writer.message("auto-cap-is").text("credits", credits(writer, cap)).say(),
            None => writer.say("auto-cap-none"),
        });
    } else {
        said.push(writer.say("auto-off"));
    }
    if let Some(at) = settings.last_charged_at {
        said.push(writer.message("auto-last").text("time", writer.moment(at)).say());
    }
    if let Some(reason) = &settings.disabled_reason {
        said.push(match SwitchedOff::read(reason) {
            Some(why) => writer.message("auto-stopped").text("reason", stopped(writer, &why)).say(),
            None => writer.say("auto-stopped-otherwise"),
        });
    } else if let Some(reason) = settings.last_failure.as_ref().filter(|_| settings.failures > 0) {
        let reason = failure(writer, reason);
        said.push(writer.message("auto-failed").count("count", settings.failures).text("reason", reason).say());
    }
    said
}

/// Why the service switched it off, in the person's language.
fn stopped(writer: &Writer, why: &SwitchedOff) -> String {
    match why {
        SwitchedOff::ChargedBack => writer.say("auto-stopped-charged-back"),
        SwitchedOff::DeletionAsked => writer.say("auto-stopped-deletion"),
        SwitchedOff::UnknownOutcome => writer.say("auto-stopped-unknown"),
        SwitchedOff::NotCredited(reason) => {
            writer.message("auto-stopped-not-credited").text("reason", failure(writer, reason)).say()
        }
        SwitchedOff::Failed { charges, last } => {
            writer.message("auto-stopped-failed").count("count", *charges).text("reason", failure(writer, last)).say()
        }
    }
}

/// Why a charge failed, by the code that is kept of it.
fn failure(writer: &Writer, code: &str) -> String {
    writer.message("charge-failure").text("code", code).say()
}

fn form(writer: &Writer, settings: &AutoTopup, sizes: &[i64], sent: Option<(AutoFields, Fault)>) -> Form {
    let (fields, fault) =
        sent.map_or_else(|| (AutoFields::of(settings), None), |(fields, fault)| (fields, Some(fault)));
    let error = |name: &str| {
        let fault = fault.as_ref().filter(|fault| fault.field == name)?;
        let text = writer.message(format!("auto-{name}-bad")).count("limit", fault.limit);
        Some(text.count("most", MAX_MONTHLY_CAP).say())
    };
    let field = |name, help: Option<&str>, input| Field {
        name,
        label: writer.say(&format!("auto-{name}")),
        help: help.map(|id| writer.say(id)),
        error: error(name),
        input,
    };
    let line = |value: &str, is_required| Input::Line { kind: "text", value: value.to_owned(), max: None, is_required };
    let size = |size: &i64| Pick {
        value: size.to_string(),
        text: credits(writer, *size),
        is_chosen: size.to_string() == fields.amount,
    };
    let tick = Pick { value: "on".to_owned(), text: writer.say("auto-enable"), is_chosen: fields.enabled.is_some() };
    Form {
        id: "h-auto",
        title: writer.say("auto-set"),
        about: vec![writer.say("auto-about")],
        is_get: false,
        action: "/credits/auto-top-up".to_owned(),
        hidden: vec![],
        fields: vec![
            field("enabled", None, Input::Ticks(vec![("enabled", tick)])),
            field("threshold", Some("auto-threshold-help"), line(&fields.threshold, false)),
            field("amount", None, Input::Select(sizes.iter().map(size).collect())),
            field("cap", Some("auto-cap-help"), line(&fields.cap, false)),
        ],
        buttons: vec![Button::main(writer.say("auto-save"))],
    }
}

#[cfg(test)]
mod tests {
    use domain::payments::Refusal;
    use rstest::rstest;

    use super::*;
    use crate::text::tests::writer;

    fn fields(enabled: bool, threshold: &str, amount: &str, cap: &str) -> AutoFields {
        AutoFields {
            enabled: enabled.then(|| "on".to_owned()),
            threshold: threshold.to_owned(),
            amount: amount.to_owned(),
            cap: cap.to_owned(),
        }
    }

    #[rstest]
    #[case(fields(true, "", "500", ""), "threshold")]
    #[case(fields(true, "0", "500", ""), "threshold")]
    #[case(fields(true, "1.5", "500", ""), "threshold")]
    #[case(fields(true, "100", "501", ""), "amount")]
    #[case(fields(true, "100", "", ""), "amount")]
    #[case(fields(true, "100", "500", "499"), "cap")]
    #[case(fields(false, "", "", "x"), "cap")]
    fn a_fault_names_its_field(#[case] fields: AutoFields, #[case] field: &str) {
        let prices = PriceList::parse("small:500:9:USD", "").unwrap();
        assert_eq!(fields.change(&writer("en"), &prices).unwrap_err().field, field);
    }

    #[rstest]
    #[case("en", "1,000")]
    #[case("es-AR", "1.000")]
    #[case("es-MX", "1,000")]
    #[case("pt-BR", " 1 000 ")]
    #[case("pt-BR", "1000")]
    fn a_number_is_read_as_it_is_written_there(#[case] locale: &str, #[case] threshold: &str) {
        let prices = PriceList::parse("small:500:9:USD", "").unwrap();
        let change = fields(true, threshold, "500", threshold).change(&writer(locale), &prices).unwrap();
        let plain = fields(true, "1000", "500", "1000").change(&writer(locale), &prices).unwrap();
        assert_eq!(change, plain);
    }

    #[test]
    fn what_the_service_switched_off_says_why() {
        let other = AutoTopup { disabled_reason: Some("the moon was full".to_owned()), ..AutoTopup::default() };
        assert!(said(&writer("es-AR"), &other).concat().ends_with("El servicio la apagó, y da este motivo en inglés:"));
        let why = SwitchedOff::Failed { charges: 3, last: "card_declined".to_owned() };
        let failed = AutoTopup { disabled_reason: Some(why.to_string()), failures: 3, ..AutoTopup::default() };
        for (locale, text) in [
            (
                "en",
                "The service switched it off: 3 charges in a row failed, the last one because the card was declined.",
            ),
            ("es-AR", "El servicio la apagó: fallaron 3 cobros seguidos, el último porque la tarjeta fue rechazada."),
            ("pt-BR", "O serviço a desligou: 3 cobranças seguidas falharam, a última porque o cartão foi recusado."),
        ] {
            assert!(said(&writer(locale), &failed).contains(&text.to_owned()), "{locale}");
        }
        let on = AutoTopup { enabled: true, threshold: 100, top_up_amount: 500, ..AutoTopup::default() };
        assert!(said(&writer("en"), &on)[0].contains("500 credits"));
    }

    #[test]
    fn a_charge_that_failed_says_why_in_words() {
        let failed = |code: &str| {
            let last_failure = Some(code.to_owned());
            said(&writer("es-AR"), &AutoTopup { last_failure, failures: 1, ..AutoTopup::default() }).pop().unwrap()
        };
        assert_eq!(failed("card_declined"), "El último cobro falló: la tarjeta fue rechazada.");
        assert_eq!(failed("lost_card"), "El último cobro falló: la pasarela de pago respondió “lost_card”.");
        let own = ["no_payment_method", "no_such_pack", "unknown_outcome", "rejected", "declined"];
        for code in own.iter().chain(Refusal::NAMES) {
            assert!(!failed(code).contains(code), "{code}");
        }
    }
}
