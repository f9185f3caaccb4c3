mod held_out;
mod language;
mod portuguese;
mod sentences;
mod spanish;

pub(crate) use sentences::{Said, check_sentence, in_language, known};

use proptest::prelude::*;
use rstest::rstest;
use rust_decimal::{Decimal, dec};
use time::{Date, macros::date};

use super::*;
use crate::{anomalies::Direction, money::Currency};

fn eur() -> Currency {
    "EUR".parse().unwrap()
}

/// 1234.57 EUR, -500.00 EUR, 62 %, 12 (items), 3.47 (ratio), 30 days, 1 March 2026 (a Sunday).
fn grounds() -> Grounds {
    Grounds {
        facts: vec![
            Fact::money(dec!(1234.567), eur()),
            Fact::money(dec!(-500), eur()),
            Fact::percent(dec!(61.9), 0),
            Fact::count(12),
            Fact::ratio(dec!(3.47)),
            Fact::days(30),
            Fact::Day(date!(2026 - 03 - 01)),
            Fact::Moved(Direction::Down),
        ],
        names: vec![quoted("MUG-11"), quoted("MUG-11 \"big\" 99 %\n<b>")],
        cause: None,
    }
}

fn say(text: &str) -> Result<(), Refusal> {
    say_of(text, &grounds())
}

fn say_of(text: &str, grounds: &Grounds) -> Result<(), Refusal> {
    language::say_in(text, grounds, Writing::ENGLISH)
}

#[rstest]
#[case("Revenue was 1234.57 EUR.")]
#[case("Revenue was 1,234.57 EUR.")]
#[case("Revenue was 1 234.57 EUR.")]
#[case("Revenue was 1\u{202f}234.57 EUR.")]
#[case("Revenue was €1,234.57.")]
#[case("Revenue was EUR 1,235.")]
#[case("Revenue was 1235 euros")]
#[case("Revenue was about 1.2k EUR")]
#[case("Revenue was about €1.23 thousand")]
#[case("Profit was -500 EUR.")]
#[case("Profit was −500.00 EUR.")]
#[case("Profit was -€500.")]
#[case("A fall of 62 %.")]
#[case("A fall of 62% was seen")]
#[case("A fall of 61.9 percent")]
#[case("A fall of 62 per cent")]
#[case("12 products, twelve products, Twelve items")]
#[case("The ratio was 3.47, or 3.5.")]
#[case("Ads brought in 3.47 times what they cost, 3.47 times the ad spend.")]
#[case("Over the last 30 days; a 30-day period; thirty days")]
#[case("On 2026-03-01")]
#[case("On 1 March 2026, on March 1, on March 1st, 2026, on 1 Mar")]
#[case("On Sunday in March")]
#[case("No data since 2026-03-01")]
#[case("No stock is left of \"MUG-11\".")]
#[case("No stock is left of “MUG-11” - reorder it.")]
#[case("The cause is not known. The data does not tell why.")]
#[case("You may want to look at it, first thing tomorrow.")]
#[case("Look at the product mix, at the CLV, at size XL, and write them a DM.")]
#[case("They have been away for longer than most, longer than most of the others.")]
#[case("These campaigns spend most; another brings the most orders.")]
#[case("It lasts 30 days at most, and is most visible on Sunday.")]
fn what_rests_on_the_facts_passes(#[case] text: &str) {
    assert_eq!(say(text), Ok(()), "{text}");
}

#[rstest]
#[case("Revenue was 1234.58 EUR.")]
#[case("Revenue was 1234 EUR.")]
#[case("Revenue was 1\u{202f}234,57 EUR.")]
#[case("Revenue was 1.234,57 EUR.")]
#[case("Revenue was 1'234.57 EUR.")]
#[case("Revenue was 1300 EUR.")]
#[case("Revenue was 1200 EUR.")]
#[case("Revenue was 1k EUR.")]
#[case("Revenue was 1.3k EUR.")]
#[case("Revenue was 1.2M EUR.")]
#[case("Revenue was 1234.57.")]
#[case("Revenue was 1234.57 USD.")]
#[case("Revenue was $1,234.57.")]
#[case("Revenue was USD 1,234.57.")]
#[case("Revenue was 1234.57 dollars.")]
#[case("Revenue was 1234.57 %.")]
#[case("Revenue was R$1,234.57")]
#[case("Revenue was -1234.57 EUR.")]
#[case("Profit was 500 EUR.")]
#[case("12 % fewer")]
#[case("12 EUR")]
#[case("12 USD")]
#[case("12 days")]
#[case("12 hours")]
#[case("12x more")]
#[case("12 times what they cost")]
#[case("3.47 times more")]
#[case("12th")]
#[case("62 items")]
#[case("62 percentage points")]
#[case("62 pp")]
#[case("62")]
#[case("30 products")]
#[case("3 or so")]
#[case("The ratio was 3.4")]
#[case("The ratio was 0")]
#[case("-12 products")]
#[case("11-12 products")]
#[case("12-15 products")]
#[case("12/15 products")]
#[case("12:30")]
#[case("1e2 products")]
#[case("1 2 products")]
#[case("12 345 products")]
#[case("12,345 products")]
#[case("1,2,3")]
#[case("1.2.3")]
#[case("12000000000000000000000000000000000")]
#[case("eleven products")]
#[case("one product")]
#[case("zero products")]
#[case("a dozen products")]
#[case("a couple of products")]
#[case("hundreds of products")]
#[case("half of it")]
#[case("It doubled.")]
#[case("a tenfold rise")]
#[case("a third of customers")]
#[case("twice as many")]
#[case("doce productos")]
#[case("minus twelve")]
#[case("On 2026-03-02")]
#[case("On 2026-02-01")]
#[case("On 2 March")]
#[case("On March 1, 2025")]
#[case("On 1 April")]
#[case("In April")]
#[case("On Monday")]
#[case("In 2026")]
#[case("Q1")]
#[case("A4")]
#[case("XII products")]
#[case("xii products")]
#[case("LXII % of it")]
#[case("MMXXVI was better")]
#[case("Most of your customers stay away.")]
#[case("Most orders came in on Sunday.")]
#[case("The vast majority of the orders came in on Sunday, and nearly all products are gone.")]
#[case("Orders came in mostly on Sunday.")]
#[case("a pair of products")]
#[case("The trio sold well.")]
#[case("Orders are quadrupling.")]
#[case("None of the customers came back.")]
fn another_number_is_refused(#[case] text: &str) {
    assert!(matches!(say(text), Err(Refusal::Number(_))), "{text}: {:?}", say(text));
}

#[test]
fn a_quoted_name_turns_no_text_beyond_its_quotes() {
    assert_eq!(quoted("Mug \u{202e}gum\u{2066} 99\u{2069}"), "\"Mug gum 99\"");
}

#[rstest]
#[case("", Refusal::Empty)]
#[case(" \u{a0} ", Refusal::Empty)]
#[case("a\nb", Refusal::Character('\n'))]
#[case("a\u{0}b", Refusal::Character('\0'))]
#[case("a\u{200b}b", Refusal::Character('\u{200b}'))]
#[case("a\u{202e}b", Refusal::Character('\u{202e}'))]
#[case("a \u{fffc} b", Refusal::Character(NAME_MASK))]
#[case("\u{ff11}\u{ff12} products", Refusal::Character('\u{ff11}'))]
#[case("\u{661}\u{662} products", Refusal::Character('\u{661}'))]
#[case("½ of it", Refusal::Character('½'))]
#[case("x² more", Refusal::Character('²'))]
#[case("Ⅻ products", Refusal::Character('Ⅻ'))]
#[case("三 products", Refusal::Character('三'))]
#[case("<b>bold</b>", Refusal::Markup)]
#[case("**bold**", Refusal::Markup)]
#[case("[link](x)", Refusal::Markup)]
#[case("see https://example.com", Refusal::Markup)]
#[case("see www.example.com", Refusal::Markup)]
#[case("see example.com", Refusal::Markup)]
#[case("a@b", Refusal::Markup)]
#[case("the \"CUP\" sells", Refusal::Quote)]
#[case("the \"MUG-11", Refusal::Quote)]
fn other_characters_are_refused(#[case] text: &str, #[case] refusal: Refusal) {
    assert_eq!(say(text), Err(refusal));
}

#[test]
fn a_name_outside_its_quotes_is_no_name() {
    assert!(matches!(say("MUG-11 is gone"), Err(Refusal::Number(_))));
    assert_eq!(say("\"MUG-11 big 99 % <b>\" is gone"), Ok(()), "in quotes a name is a name, whatever it says");
    assert!(say("MUG-11 big 99 % <b> is gone").is_err());
}

#[rstest]
#[case("Sales soared.", Direction::Up)]
#[case("Sales skyrocketed.", Direction::Up)]
#[case("Sales plummeted.", Direction::Down)]
#[case("Sales collapsed.", Direction::Down)]
#[case("Sales dried up.", Direction::Down)]
#[case("Sales came to a halt.", Direction::Down)]
#[case("Sales have recovered.", Direction::Up)]
#[case("Sales picked up.", Direction::Up)]
fn a_direction_is_told_only_where_a_fact_went_that_way(#[case] text: &str, #[case] direction: Direction) {
    let told = say_of(text, &Grounds { facts: vec![Fact::Moved(direction)], ..Grounds::default() });
    assert_eq!(told, Ok(()));
    assert!(matches!(say_of(text, &Grounds::default()), Err(Refusal::Direction(_))), "{text}");
}

#[rstest]
#[case("Revenue fell because of \"MUG-11\".")]
#[case("Revenue fell due to fewer visits.")]
#[case("This led to fewer orders.")]
#[case("Ads drove revenue.")]
#[case("Driven by ads.")]
#[case("It is likely the season.")]
#[case("Revenue fell since it was cut.")]
#[case("As a result of it, orders fell.")]
#[case("As a result, orders fell.")]
#[case("That is why orders fell.")]
#[case("Amid weak demand, orders fell.")]
#[case("The reason is the season.")]
#[case("Caused by ads.")]
#[case("Thus orders fell.")]
#[case("BECAUSE OF ADS")]
fn a_cause_that_is_not_known_is_not_told(#[case] text: &str) {
    assert!(matches!(say(text), Err(Refusal::Causal(_))), "{text}: {:?}", say(text));
}

#[test]
fn a_known_cause_is_told_in_its_own_words_and_no_other() {
    let cause = "conversion 60 % below what was expected";
    let grounds = Grounds { cause: Some(cause.into()), ..grounds() };
    let say = |text: &str| say_of(text, &grounds);
    assert_eq!(say("Revenue fell because of conversion 60 % below what was expected."), Ok(()));
    assert_eq!(say("Conversion 60 % below what was expected."), Ok(()));
    assert!(matches!(say("Revenue fell because of ads."), Err(Refusal::Causal(_))));
    for other in [
        format!("Revenue fell because of {cause}, and because of the day."),
        format!("Revenue fell because of {cause}. It was due to the day."),
    ] {
        assert!(matches!(say(&other), Err(Refusal::Causal(_))), "a known cause covers no other: {other}");
    }
    assert!(matches!(say("Conversion was 60 % lower."), Err(Refusal::Number(_))));
    assert!(matches!(say(&format!("{cause}, 70 % in fact")), Err(Refusal::Number(_))));
}

#[rstest]
#[case(Language::English, "Check the weather and your prices today.", "last week")]
#[case(Language::Spanish, "Revise hoy el clima y sus precios.", "la semana pasada")]
#[case(Language::BrazilianPortuguese, "Verifique hoje o clima e os preços.", "na semana passada")]
fn advice_may_name_today_and_what_the_draft_does_not_and_a_week_needs_seven_days(
    #[case] language: Language,
    #[case] advice: &str,
    #[case] week: &str,
) {
    let writing = Writing { language, numbers: NumberFormat::Point };
    let wording = |body: &str, action: &str| Wording {
        title: "A".into(),
        body: body.into(),
        suggested_action: action.into(),
        impact_estimate: "A".into(),
    };
    let draft = wording("A", "A");
    let said = |body: &str, action: &str, facts: Vec<Fact>| {
        let grounds = Grounds { facts, ..Grounds::default() };
        check(&wording(body, action), &draft, &grounds, writing).map_err(|(field, _)| field)
    };
    assert_eq!(said("A", advice, vec![]), Ok(()));
    assert_eq!(said(advice, "A", vec![]), Err("body"));
    assert_eq!(said(week, "A", vec![]), Err("body"));
    assert_eq!(said(week, "A", vec![Fact::days(7)]), Ok(()));
}

#[test]
fn every_text_is_checked_and_bounded() {
    let fine =
        Wording { title: "t".into(), body: "b".into(), suggested_action: "a".into(), impact_estimate: "i".into() };
    assert_eq!(check(&fine, &fine, &grounds(), Writing::ENGLISH), Ok(()));
    let faults = [
        ("title", Wording { title: "99 orders".into(), ..fine.clone() }),
        ("body", Wording { body: "x".repeat(701), ..fine.clone() }),
        ("suggested_action", Wording { suggested_action: String::new(), ..fine.clone() }),
        ("impact_estimate", Wording { impact_estimate: "99 EUR".into(), ..fine }),
    ];
    for (field, wording) in faults {
        assert_eq!(check(&wording, &wording, &grounds(), Writing::ENGLISH).unwrap_err().0, field);
    }
}

#[test]
fn facts_print_as_people_read_them() {
    let printed: Vec<String> = grounds().facts.iter().map(ToString::to_string).collect();
    assert_eq!(printed, ["1234.57 EUR", "-500.00 EUR", "62 %", "12", "3.47", "30 days", "2026-03-01", "fell"]);
    assert_eq!(Fact::days(1).to_string(), "1 day");
    assert_eq!(Fact::money(dec!(-0.001), eur()).to_string(), "0.00 EUR");
}

fn any_writing() -> impl Strategy<Value = Writing> {
    let numbers = prop_oneof![Just(NumberFormat::Point), Just(NumberFormat::Comma)];
    (prop::sample::select(Language::ALL), numbers).prop_map(|(language, numbers)| Writing { language, numbers })
}

fn any_fact() -> impl Strategy<Value = Fact> {
    let amount = (-1_000_000_000i64..1_000_000_000, 0u32..7).prop_map(|(digits, scale)| Decimal::new(digits, scale));
    prop_oneof![
        (amount.clone(), prop::sample::select(vec!["EUR", "JPY", "KWD"]))
            .prop_map(|(value, code)| Fact::money(value, code.parse().unwrap())),
        (amount.clone(), 0u32..3).prop_map(|(value, decimals)| Fact::points(value, decimals)),
        prop_oneof![Just(Direction::Up), Just(Direction::Down)].prop_map(Fact::Moved),
        (amount.clone(), 0u32..3).prop_map(|(value, decimals)| Fact::percent(value, decimals)),
        (-100_000i64..100_000).prop_map(Fact::count),
        amount.prop_map(Fact::ratio),
        (0i64..1_000).prop_map(Fact::days),
        (1i32..3_000).prop_map(|day| Fact::Day(Date::from_julian_day(2_461_000 + day).unwrap())),
    ]
}

proptest! {
    #[test]
    fn every_fact_as_printed_passes(fact in any_fact(), after in "( [fgj-np-rty-z]{3,8})?[.!]?") {
        let grounds = Grounds { facts: vec![fact], ..Grounds::default() };
        let text = format!("was {fact}{after}");
        prop_assert_eq!(say_of(&text, &grounds), Ok(()), "{}", text);
        prop_assert_eq!(say_of(&fact.to_string(), &grounds), Ok(()));
    }

    #[test]
    fn every_fact_as_written_passes_in_every_language(fact in any_fact(), writing in any_writing()) {
        let grounds = Grounds { facts: vec![fact], ..Grounds::default() };
        let text = fact.written(writing);
        prop_assert_eq!(language::say_in(&text, &grounds, writing), Ok(()), "{}", text);
    }

    /// What one region calls a thousand another calls one and a bit.
    #[test]
    fn a_number_written_for_another_region_is_refused(digits in 1_000i64..1_000_000_000, scale in 1u32..4, writing in any_writing()) {
        let number = Decimal::new(digits, scale);
        prop_assume!(!number.fract().is_zero() || number >= Decimal::ONE_THOUSAND);
        let grounds = Grounds { facts: vec![Fact::percent(number, scale)], ..Grounds::default() };
        let other = match writing.numbers {
            NumberFormat::Point => NumberFormat::Comma,
            NumberFormat::Comma => NumberFormat::Point,
        };
        let text = grounds.facts[0].written(Writing { numbers: other, ..writing });
        let said = language::say_in(&text, &grounds, writing);
        prop_assert!(matches!(said, Err(Refusal::Number(_))), "{}: {:?}", text, said);
    }

    /// A number in words says that number and no other.
    #[test]
    fn numbers_in_words_say_what_they_say(
        number in 2u32..1_000_000, other in 2u32..1_000_000,
        language in prop_oneof![Just(Language::Spanish), Just(Language::BrazilianPortuguese)],
        without_accents in any::<bool>(),
    ) {
        prop_assume!(number != other);
        let mut text = language::in_words(number, language);
        if without_accents {
            text = letters::folded(&text);
        }
        let writing = Writing { language, numbers: NumberFormat::Comma };
        let said = |number: u32| {
            let grounds = Grounds { facts: vec![Fact::count(number)], ..Grounds::default() };
            language::say_in(&format!("{text} items"), &grounds, writing)
        };
        prop_assert_eq!(said(number), Ok(()), "{}", &text);
        prop_assert!(matches!(said(other), Err(Refusal::Number(_))), "{} is not {}", &text, other);
    }

    /// A number at least a hundredth and one step away from every fact, in whatever form, is refused.
    #[test]
    fn a_number_that_is_no_fact_is_refused(
        fact in 100i64..10_000_000, other in 100i64..10_000_000, form in 0usize..12, writing in any_writing(),
    ) {
        let apart = (fact - other).abs() * 10 > fact.max(other);
        prop_assume!(apart);
        let grounds = Grounds {
            facts: vec![
                Fact::money(Decimal::new(fact, 2), eur()), Fact::percent(Decimal::new(fact, 2), 2),
                Fact::count(fact), Fact::days(fact),
            ],
            ..Grounds::default()
        };
        let shown = Decimal::new(other, 2);
        let grouped = format!("{},{:03}", other / 1000, other % 1000);
        let text = match form {
            0 => format!("{shown} EUR"),
            1 => format!("€{shown}"),
            2 => format!("EUR {shown}"),
            3 => format!("{shown}%"),
            4 => format!("{shown} percent"),
            5 => format!("{other} products"),
            6 => format!("{other} days"),
            7 => format!("{other}-day period"),
            8 => format!("-{other}"),
            9 => format!("{grouped} products"),
            10 => shown.to_string().replace('.', ",") + " EUR",
            _ => format!("{}k products", Decimal::new(other, 3)),
        };
        let refused = language::say_in(&format!("{text}."), &grounds, writing);
        prop_assert!(matches!(refused, Err(Refusal::Number(_))), "{}: {:?}", text, refused);
    }

    #[test]
    fn no_text_makes_the_check_panic(text in any::<String>(), cause in any::<Option<String>>(), writing in any_writing()) {
        let grounds = Grounds { cause, ..grounds() };
        let _ = language::say_in(&text, &grounds, writing);
    }

    #[test]
    fn texts_of_the_right_alphabet_do_not_make_it_panic(
        text in "([-0-9a-zA-Z .,:/%€$'−–\u{a0}()áãçñº\u{301}]|mil |milhões |y |e |un |de |desde |por ){0,40}", writing in any_writing(),
    ) {
        let _ = language::say_in(&text, &grounds(), writing);
    }

    #[test]
    fn a_quoted_name_is_one_bounded_line(name in any::<String>()) {
        let quoted = quoted(&name);
        prop_assert!(quoted.chars().count() <= 62 && !quoted.chars().any(char::is_control));
        prop_assert_eq!(quoted.matches('"').count(), 2);
    }
}
