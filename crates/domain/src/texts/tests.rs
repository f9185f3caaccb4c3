//! The catalogue is whole: every message is there in every language, takes the same figures, and leaves nothing open.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
};

use fluent_bundle::{FluentError, FluentValue};
use fluent_syntax::{
    ast::{Entry, Expression, InlineExpression, Pattern, PatternElement},
    parser,
};
use rstest::rstest;
use rust_decimal::dec;
use time::macros::date;

use super::*;
use crate::{
    accounts::Platform,
    insights::grounding::{Said, check_sentence},
    social::Channel,
};

fn texts(tag: &str) -> Texts {
    Texts::of(locale(tag))
}

pub(crate) fn locale(tag: &str) -> Locale {
    let (base, region) = tag.split_once('-').map_or((tag, None), |(base, region)| (base, Some(region)));
    let language = match base {
        "en" => Language::English,
        "es" => Language::Spanish,
        _ => Language::BrazilianPortuguese,
    };
    Locale { language, region: region.map(|region| region.parse().unwrap()) }
}

thread_local! {
    /// What this test has filled, with its language.
    static SAID: RefCell<BTreeSet<(Language, String)>> = const { RefCell::new(BTreeSet::new()) };
}

/// Every text that a test of this crate fills passes here: it must be in the catalogue, whole, and in its language.
pub(super) fn note(language: Language, id: &str, attribute: Option<&str>, errors: &[FluentError], text: Option<&str>) {
    let name = attribute.map_or_else(|| id.to_owned(), |attribute| format!("{id}.{attribute}"));
    let text = text.unwrap_or_else(|| panic!("{language}: {name} is not in the catalogue"));
    assert!(errors.is_empty(), "{language}: {name}: {errors:?}");
    SAID.with_borrow_mut(|said| said.insert((language, name)));
    if language != Language::English {
        let english = text.split(|c: char| !c.is_alphabetic() && c != '_').find(|word| ENGLISH.contains(word));
        assert_eq!(english, None, "{language}: {text}");
    }
}

/// Words that sentences hardly do without in English, and that are none in Spanish or Portuguese.
const ENGLISH: [&str; 22] = [
    "the", "of", "and", "with", "was", "were", "is", "are", "than", "from", "this", "that", "which", "it", "orders",
    "sales", "days", "units", "about", "usual", "less", "more",
];

#[rstest]
#[case("en", "1,234,567.50", "1,234.56")]
#[case("en-IN", "12,34,567.50", "1,234.56")]
#[case("es", "1.234.567,50", "1.234,56")]
#[case("es-ES", "1.234.567,50", "1234,56")]
#[case("es-MX", "1,234,567.50", "1,234.56")]
#[case("es-AR", "1.234.567,50", "1.234,56")]
#[case("pt-BR", "1.234.567,50", "1.234,56")]
#[case("pt-PT", "1\u{a0}234\u{a0}567,50", "1234,56")]
fn numbers_are_written_as_the_region_does(#[case] tag: &str, #[case] large: &str, #[case] small: &str) {
    assert_eq!(texts(tag).written(dec!(1234567.50)), large);
    assert_eq!(texts(tag).written(dec!(1234.56)), small);
}

#[rstest]
#[case("en", "2,470 USD", "12.30 USD", "on Friday 20 November")]
#[case("en-US", "2,470 USD", "12.30 USD", "on Friday, November 20")]
#[case("es-AR", "2.470 USD", "12,30 USD", "el viernes 20 de noviembre")]
#[case("pt-BR", "2.470 USD", "12,30 USD", "na sexta-feira, 20 de novembro")]
fn amounts_and_dates_are_written_as_the_region_does(
    #[case] tag: &str,
    #[case] large: &str,
    #[case] small: &str,
    #[case] day: &str,
) {
    let texts = texts(tag).as_of(date!(2026 - 11 - 23));
    let currency = "USD".parse().unwrap();
    let money =
        |amount| texts.message("list").text("others", "").money("last", amount, currency).args.get("last").cloned();
    assert_eq!(money(dec!(2470.20)), Some(large.into()));
    assert_eq!(money(dec!(12.3)), Some(small.into()));
    assert_eq!(texts.written_day("day-on", date!(2026 - 11 - 20)), day);
}

#[rstest]
#[case("en-US", "on Sunday, January 5, 2025")]
#[case("en-GB", "on Sunday 5 January 2025")]
#[case("es", "el domingo 5 de enero de 2025")]
#[case("pt-BR", "no domingo, 5 de janeiro de 2025")]
fn a_date_long_ago_has_its_year(#[case] tag: &str, #[case] day: &str) {
    assert_eq!(texts(tag).as_of(date!(2026 - 11 - 23)).written_day("day-on", date!(2025 - 01 - 05)), day);
}

#[rstest]
#[case("en", "0.004", "0 percentage points")]
#[case("en", "0.01", "1 percentage point")]
#[case("es-MX", "-0.01", "-1 punto porcentual")]
#[case("pt-BR", "0.134", "13 pontos percentuais")]
fn the_change_of_a_share_is_in_percentage_points(#[case] tag: &str, #[case] change: Decimal, #[case] text: &str) {
    let texts = texts(tag);
    let filled = texts.message("list").text("others", "").points("last", change, 0);
    assert_eq!(filled.args.get("last"), Some(&text.into()));
}

#[test]
fn the_largest_shares_are_written() {
    let texts = texts("en");
    let filled = texts.message("list").percent("others", Decimal::MAX, 1).points("last", Decimal::MIN, 0);
    let text = |name: &str| match filled.args.get(name) {
        Some(FluentValue::String(text)) => text.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(text("others"), "79,228,162,514,264,337,593,543,950,335%");
    assert!(text("last").starts_with("-79,228,"), "{}", text("last"));
}

/// What a shop, a file of ad spend or a conversation names as its platform is shown by its name.
#[test]
fn no_platform_is_shown_as_a_code() {
    let in_files = ["google", "tiktok", "google_ads", "meta_ads", "mercadolibre_ads", "tiktok_ads"];
    for code in Platform::NAMES.iter().chain(Channel::NAMES).chain(&in_files) {
        for tag in ["en", "es", "pt-BR"] {
            let name = texts(tag).message("platform").text("platform", code).say();
            assert!(!name.contains('_') && name.starts_with(char::is_uppercase), "{tag}: {code} is {name}");
        }
    }
}

/// The variables of every message and attribute of a language.
fn variables(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    let mut references = Vec::new();
    for file in catalogue::files(language) {
        let resource = parser::parse(*file).unwrap_or_else(|(_, errors)| panic!("{language}: {errors:?}"));
        for entry in resource.body {
            let Entry::Message(message) = entry else { continue };
            let patterns = message.value.iter().map(|value| (message.id.name.to_owned(), value)).chain(
                message
                    .attributes
                    .iter()
                    .map(|attribute| (format!("{}.{}", message.id.name, attribute.id.name), &attribute.value)),
            );
            for (name, pattern) in patterns {
                let mut used = BTreeSet::new();
                in_pattern(pattern, &mut used);
                references
                    .extend(used.iter().filter(|used| !used.starts_with('$')).map(|used| (name.clone(), used.clone())));
                assert!(found.insert(name.clone(), used).is_none(), "{language}: {name} is there twice");
            }
        }
    }
    for (from, to) in references {
        assert!(found.contains_key(&to), "{language}: {from} refers to {to}, which is not there");
    }
    found
}

/// Variables with their `$`, and messages that are referred to.
fn in_pattern(pattern: &Pattern<&str>, found: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            in_expression(expression, found);
        }
    }
}

fn in_expression(expression: &Expression<&str>, found: &mut BTreeSet<String>) {
    let mut inline = |inline: &InlineExpression<&str>| match inline {
        InlineExpression::VariableReference { id } => {
            // By its number a form is selected; the figure is the same.
            found.insert(format!(
                "${}",
                ["_n", "_on", "_listed", "_in", "_from"].iter().fold(id.name, |name, end| name.trim_end_matches(end))
            ));
        }
        InlineExpression::MessageReference { id, attribute: None } => {
            found.insert(id.name.to_owned());
        }
        InlineExpression::StringLiteral { .. } => {}
        other => panic!("templates have no use for {other:?}"),
    };
    match expression {
        Expression::Inline(one) => inline(one),
        Expression::Select { selector, variants } => {
            inline(selector);
            for variant in variants {
                in_pattern(&variant.value, found);
            }
        }
    }
}

#[rstest]
#[case(Language::English, "US", "United States", "in the United States", "from the United States")]
#[case(Language::English, "AR", "Argentina", "in Argentina", "from Argentina")]
#[case(Language::English, "ZZ", "ZZ", "in ZZ", "from ZZ")]
#[case(Language::Spanish, "GB", "Reino Unido", "en el Reino Unido", "del Reino Unido")]
#[case(Language::Spanish, "BR", "Brasil", "en Brasil", "de Brasil")]
#[case(Language::BrazilianPortuguese, "BR", "Brasil", "no Brasil", "do Brasil")]
#[case(Language::BrazilianPortuguese, "AR", "Argentina", "na Argentina", "da Argentina")]
#[case(Language::BrazilianPortuguese, "US", "Estados Unidos", "nos Estados Unidos", "dos Estados Unidos")]
#[case(Language::BrazilianPortuguese, "PT", "Portugal", "em Portugal", "de Portugal")]
fn a_country_is_named_with_its_article(
    #[case] language: Language,
    #[case] code: &str,
    #[case] name: &str,
    #[case] within: &str,
    #[case] from: &str,
) {
    let texts = Texts::of(Locale { language, region: None });
    let message = texts.message("country").country("part", code);
    let filled = |name: &str| match message.args.get(name) {
        Some(FluentValue::String(text)) => text.to_string(),
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(["part", "part_in", "part_from"].map(filled), [name, within, from]);
}

#[test]
fn every_language_has_the_same_messages() {
    let names = |language| variables(language).into_keys().collect::<BTreeSet<_>>();
    let english = names(Language::English);
    for language in Language::ALL {
        let of = names(*language);
        let differing: Vec<_> = english.symmetric_difference(&of).collect();
        assert!(differing.is_empty(), "{language}: {differing:?}");
    }
}

/// Where a language tells less than another, someone forgot a figure.
#[test]
fn every_language_tells_the_same_figures() {
    let english = variables(Language::English);
    for language in Language::ALL {
        for (name, used) in variables(*language) {
            // How dates are put together is the language's own.
            if name.starts_with("day") {
                continue;
            }
            assert_eq!(Some(&used), english.get(&name), "{language}: {name}");
        }
    }
}

/// Why lines and files are refused: what is filled in are texts, and `imports` names the messages.
fn say_refusals(texts: &Texts) {
    let refusals = variables(texts.locale.language).into_iter();
    for (id, figures) in refusals.filter(|(id, _)| id.starts_with("refused-") || id.starts_with("file-")) {
        for by in ["command", "page"] {
            let message = texts.message(id.clone()).text("by", by);
            figures
                .iter()
                .filter_map(|figure| figure.strip_prefix('$').filter(|name| *name != "by"))
                .fold(message, |message, name| message.text(name, name))
                .say();
        }
    }
}

/// What the service says of a shop and of itself outside of insights, and what each sentence may rest on.
fn say_sentences(texts: &Texts) -> Vec<Said> {
    [
        crate::anomalies::wording::tests::say_all(texts),
        crate::incidents::wording::say_all(texts),
        crate::profit::explain::tests::say_all(texts),
        crate::reorder::say_all(texts),
        crate::risks::say_all(texts),
    ]
    .concat()
}

/// As the insights do, by the tests of their rules.
#[test]
fn sentences_pass_the_check_of_models_texts() {
    let mut refused = Vec::new();
    for tag in ["en", "en-IN", "es", "es-MX", "es-AR", "pt-BR"] {
        let texts = texts(tag);
        for (text, grounds) in say_sentences(&texts) {
            if let Err(refusal) = check_sentence(&text, &grounds, texts.writing()) {
                refused.push(format!("{tag}: {refusal}: {text}"));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

/// Every message, filled with figures of one and of several, in every language.
#[test]
fn every_message_is_filled_in_every_language() {
    for language in Language::ALL {
        let texts = Texts::of(Locale { language: *language, region: None });
        say_sentences(&texts);
        crate::mail::tests::say_all(&texts);
        crate::insights::say_all(&texts);
        say_refusals(&texts);
        let all: BTreeSet<_> = variables(*language).into_keys().collect();
        let said: BTreeSet<_> = SAID
            .with_borrow(|said| said.iter().filter(|(of, _)| of == language).map(|(_, name)| name.clone()).collect());
        // Parts of others.
        let parts =
            ["weekday", "month", "day", "day-on", "money", "percent", "points", "list", "platform", "on-platform"];
        let left: Vec<_> = all.difference(&said).filter(|name| !parts.contains(&name.as_str())).collect();
        assert!(left.is_empty(), "{language}: {left:?}");
    }
}
