//! What the tables of sentences are checked with.

use super::*;

/// 1234.57, -500.00 and 2,500,000 of the currency; 62 %; 3.2 percentage points; 12, 21 and 1200 (items); 3.47 (ratio); 30 days;
/// 1 March 2026, a Sunday; it fell.
pub(super) fn shop(currency: &str) -> Grounds {
    let currency = currency.parse().unwrap();
    Grounds {
        facts: vec![
            Fact::money(dec!(1234.567), currency),
            Fact::money(dec!(-500), currency),
            Fact::money(dec!(2500000), currency),
            Fact::percent(dec!(61.9), 0),
            Fact::points(dec!(3.2), 1),
            Fact::count(12),
            Fact::count(21),
            Fact::count(1200),
            Fact::ratio(dec!(3.47)),
            Fact::days(30),
            Fact::Day(date!(2026 - 03 - 01)),
            Fact::Moved(Direction::Down),
        ],
        names: vec![quoted("MUG-11")],
        cause: None,
    }
}

/// As the body of an insight whose draft speaks of ads, stock, costs and the checkout.
pub(super) fn say_in(text: &str, grounds: &Grounds, writing: Writing) -> Result<(), Refusal> {
    say_about("Ads, stock, costs, checkout.", text, grounds, writing)
}

pub(super) fn say_about(draft: &str, text: &str, grounds: &Grounds, writing: Writing) -> Result<(), Refusal> {
    let draft = Wording {
        title: draft.into(),
        body: String::new(),
        suggested_action: String::new(),
        impact_estimate: String::new(),
    };
    check_text(text, Kind { most: 700, is_advice: false }, &Topics::of(&draft), grounds, writing)
}

/// The text with its accents as combining marks.
pub(super) fn decomposed(text: &str) -> String {
    #[rustfmt::skip]
    let marks = [
        ('á', "a\u{301}"),
        ('é', "e\u{301}"),
        ('í', "i\u{301}"),
        ('ó', "o\u{301}"),
        ('ú', "u\u{301}"),
        ('Á', "A\u{301}"),
        ('É', "E\u{301}"),
        ('Í', "I\u{301}"),
        ('Ó', "O\u{301}"),
        ('Ú', "U\u{301}"),
        ('à', "a\u{300}"),
        ('â', "a\u{302}"),
        ('ê', "e\u{302}"),
        ('ô', "o\u{302}"),
        ('ã', "a\u{303}"),
        ('õ', "o\u{303}"),
        ('ñ', "n\u{303}"),
        ('ü', "u\u{308}"),
        ('ç', "c\u{327}"),
    ];
    marks.iter().fold(text.to_owned(), |text, (accented, apart)| text.replace(*accented, apart))
}

fn forms(text: &str) -> [String; 2] {
    [text.to_owned(), decomposed(text)]
}

pub(super) fn assert_all_pass(texts: &[&str], grounds: &Grounds, writing: Writing) {
    let refused: Vec<(String, Refusal)> = texts
        .iter()
        .flat_map(|text| forms(text))
        .filter_map(|text| say_in(&text, grounds, writing).err().map(|refusal| (text, refusal)))
        .collect();
    assert!(refused.is_empty(), "{} refused: {refused:#?}", refused.len());
}

/// Sentences, and what they are to be refused for.
pub(super) type List = (&'static [&'static str], fn(&Refusal) -> bool);

/// Each list is refused for what its test says.
pub(super) fn assert_all_refused(lists: &[List], grounds: &Grounds, writing: Writing) {
    let wrong: Vec<(String, Result<(), Refusal>)> = lists
        .iter()
        .flat_map(|(texts, is_right)| texts.iter().flat_map(|text| forms(text)).map(move |text| (text, is_right)))
        .map(|(text, is_right)| (say_in(&text, grounds, writing), text, is_right))
        .filter(|(said, _, is_right)| !said.as_ref().is_err_and(is_right))
        .map(|(said, text, _)| (text, said))
        .collect();
    assert!(wrong.is_empty(), "{} wrong: {wrong:#?}", wrong.len());
}

/// The number in Spanish or Portuguese, below a million, spelled out from the rules of the grammars.
pub(super) fn in_words(number: u32, language: Language) -> String {
    let is_spanish = language == Language::Spanish;
    let (thousands, rest) = (number / 1_000, number % 1_000);
    let thousands = match thousands {
        0 => String::new(),
        1 => "mil".to_owned(),
        _ if is_spanish => format!(
            "{} mil",
            spanish_below_thousand(thousands).replace("veintiuno", "veintiún").replace(" y uno", " y un")
        ),
        _ => format!("{} mil", portuguese_below_thousand(thousands)),
    };
    let rest = match rest {
        0 => return thousands,
        _ if is_spanish => spanish_below_thousand(rest),
        _ => portuguese_below_thousand(rest),
    };
    if thousands.is_empty() {
        rest
    } else if is_spanish {
        format!("{thousands} {rest}")
    } else {
        format!("{thousands} e {rest}")
    }
}

fn spanish_below_thousand(number: u32) -> String {
    const SMALL: [&str; 30] = [
        "",
        "uno",
        "dos",
        "tres",
        "cuatro",
        "cinco",
        "seis",
        "siete",
        "ocho",
        "nueve",
        "diez",
        "once",
        "doce",
        "trece",
        "catorce",
        "quince",
        "dieciséis",
        "diecisiete",
        "dieciocho",
        "diecinueve",
        "veinte",
        "veintiuno",
        "veintidós",
        "veintitrés",
        "veinticuatro",
        "veinticinco",
        "veintiséis",
        "veintisiete",
        "veintiocho",
        "veintinueve",
    ];
    const TENS: [&str; 10] =
        ["", "", "", "treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"];
    const HUNDREDS: [&str; 10] = [
        "",
        "ciento",
        "doscientos",
        "trescientos",
        "cuatrocientos",
        "quinientos",
        "seiscientos",
        "setecientos",
        "ochocientos",
        "novecientos",
    ];
    let below_hundred = |number: u32| match number {
        0..30 => SMALL[number as usize].to_owned(),
        _ if number.is_multiple_of(10) => TENS[number as usize / 10].to_owned(),
        _ => format!("{} y {}", TENS[number as usize / 10], SMALL[number as usize % 10]),
    };
    match number {
        100 => "cien".to_owned(),
        _ => format!("{} {}", HUNDREDS[number as usize / 100], below_hundred(number % 100)).trim().to_owned(),
    }
}

fn portuguese_below_thousand(number: u32) -> String {
    const SMALL: [&str; 20] = [
        "",
        "um",
        "dois",
        "três",
        "quatro",
        "cinco",
        "seis",
        "sete",
        "oito",
        "nove",
        "dez",
        "onze",
        "doze",
        "treze",
        "quatorze",
        "quinze",
        "dezesseis",
        "dezessete",
        "dezoito",
        "dezenove",
    ];
    const TENS: [&str; 10] =
        ["", "", "vinte", "trinta", "quarenta", "cinquenta", "sessenta", "setenta", "oitenta", "noventa"];
    const HUNDREDS: [&str; 10] = [
        "",
        "cento",
        "duzentos",
        "trezentos",
        "quatrocentos",
        "quinhentos",
        "seiscentos",
        "setecentos",
        "oitocentos",
        "novecentos",
    ];
    let parts = match number {
        100 => return "cem".to_owned(),
        _ => {
            let (hundred, below) = (HUNDREDS[number as usize / 100], number as usize % 100);
            let below = if below < 20 { ["", SMALL[below]] } else { [TENS[below / 10], SMALL[below % 10]] };
            [hundred, below[0], below[1]]
        }
    };
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" e ")
}
