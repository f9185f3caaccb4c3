//! English.

use super::{BILLION, DOLLARS, Lexicon, MILLION, PESOS, Preposition, THOUSAND};

#[rustfmt::skip]
pub(super) static ENGLISH: Lexicon = Lexicon {
    cardinals: &[
        ("zero", 0), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7),
        ("eight", 8), ("nine", 9), ("ten", 10), ("eleven", 11), ("twelve", 12), ("thirteen", 13), ("fourteen", 14),
        ("fifteen", 15), ("sixteen", 16), ("seventeen", 17), ("eighteen", 18), ("nineteen", 19), ("twenty", 20),
        ("thirty", 30), ("forty", 40), ("fourty", 40), ("fifty", 50), ("sixty", 60), ("seventy", 70), ("eighty", 80),
        ("ninety", 90), ("hundred", 100),
    ],
    articles: &["a"],
    only: &[],
    single: &["single"],
    multipliers: &[
        ("k", THOUSAND), ("thousand", THOUSAND), ("m", MILLION), ("mn", MILLION), ("million", MILLION), ("b", BILLION),
        ("bn", BILLION), ("billion", BILLION),
    ],
    joiner: "and",
    has_bare_thousand: false,
    quantities: &[
        "hundred", "hundreds", "thousand", "thousands", "million", "millions", "billion", "billions", "trillion",
        "dozen", "dozens", "score", "half", "halve", "halved", "halves", "halving", "third", "thirds", "quarter",
        "quarters", "fourth", "fourths", "fifth", "fifths", "sixth", "sixths", "seventh", "eighth", "eighths", "ninth",
        "tenth", "tenths", "hundredth", "double", "doubled", "doubles", "doubling", "twice", "thrice", "triple",
        "tripled", "triples", "tripling", "treble", "trebled", "quadruple", "quadrupled", "quintuple", "quintupled",
        "manifold", "century", "decade", "fortnight",
        "twofold", "threefold", "fourfold", "fivefold", "tenfold", "hundredfold",
    ],
    quantity_stems: &[],
    no_quantities: &["two periods"],
    homographs: &["once", "media", "par", "miles", "medio"],
    minus: &["minus", "negative"],
    months: &[
        ("january", 1), ("february", 2), ("march", 3), ("april", 4), ("may", 5), ("june", 6), ("july", 7), ("august", 8),
        ("september", 9), ("october", 10), ("november", 11), ("december", 12), ("jan", 1), ("feb", 2), ("mar", 3),
        ("apr", 4), ("jun", 6), ("jul", 7), ("aug", 8), ("sep", 9), ("oct", 10), ("nov", 11), ("dec", 12),
    ],
    short_months: &[("sept", 9)],
    weekdays: &[
        ("monday", 0), ("tuesday", 1), ("wednesday", 2), ("thursday", 3), ("friday", 4), ("saturday", 5), ("sunday", 6),
        ("mondays", 0), ("tuesdays", 1), ("wednesdays", 2), ("thursdays", 3), ("fridays", 4), ("saturdays", 5),
        ("sundays", 6),
    ],
    relative: &[
        "yesterday", "last night", "last month", "last year", "last quarter", "this month", "this year", "this quarter",
        "a week ago", "a month ago", "a year ago", "the other day",
    ],
    week: &["last week", "this week", "past week"],
    today: &["today", "this morning", "tonight"],
    days: &["day", "days"],
    percent: &["percent", "per cent"],
    points: &["percentage point", "percentage points"],
    other_units: &[
        "hour", "hours", "minute", "minutes", "second", "seconds", "week", "weeks", "month", "months", "year", "years",
        "point", "points", "percentage", "pp", "bps", "basis", "times", "fold", "kg", "km", "cent", "cents", "bucks",
        "permille", "pct", "grand", "lakh",
    ],
    money: &[
        ("euro", &["EUR"]), ("euros", &["EUR"]), ("dollar", DOLLARS), ("dollars", DOLLARS), ("pound", &["GBP"]),
        ("pounds", &["GBP"]), ("yen", &["JPY"]), ("peso", PESOS), ("pesos", PESOS), ("real", &["BRL"]),
        ("reais", &["BRL"]), ("franc", &["CHF"]), ("francs", &["CHF"]), ("rupees", &["INR"]), ("won", &["KRW"]),
    ],
    function_words: &[
        "the", "of", "and", "is", "was", "were", "are", "been", "with", "from", "this", "that", "these", "those", "than",
        "you", "your", "have", "had", "its", "they", "their", "there", "which", "when", "what", "will", "should", "would",
        "could", "to", "it", "be", "or", "by", "at", "an", "not", "but", "if", "into", "about", "more", "less", "we",
    ],
    causal: &[
        "because", "cos", "due to", "owing to", "thanks to", "caused", "causes", "causing", "cause", "led to", "leads to",
        "leading to", "result of", "results from", "resulted", "resulting", "results in", "driven by", "drove", "drives",
        "driver", "drivers", "driving", "attributable", "attributed", "attribute", "stems from", "stemming",
        "stemmed from", "stemmed", "explains", "explained", "explanation", "explain", "reasons", "reason", "owed to",
        "consequence", "consequently", "therefore", "thus", "hence", "triggered", "triggers", "triggering", "sparked",
        "fuelled", "fueled", "prompted", "blame", "culprit", "responsible", "contributed", "contributes",
        "contributing", "contributor", "linked to", "tied to", "points to", "suggests", "suggesting", "likely",
        "probably", "presumably", "perhaps", "apparently",
    ],
    prepositions: &[
        Preposition { word: "since", causal: &[], harmless: &["then"], before_figures: true },
    ],
    unknown_cause: &[
        "cause is unknown", "cause is not known", "cause was not found", "cause unknown", "no known cause",
        "no cause was found", "no cause is known", "reason is unknown", "reason is not known", "no reason is known",
        "does not explain", "does not tell the reason",
    ],
    rises: &[
        "rose", "risen", "rises", "grew", "grown", "climbed", "jumped", "surged", "soared", "spiked", "increased", "an increase",
        "the increase", "a rise", "the rise", "a jump", "a surge", "a spike", "went up", "gone up", "is up", "was up",
        "are up", "were up", "up by", "higher than", "above", "exceeded", "more than what was expected",
    ],
    falls: &[
        "fell", "fallen", "falls", "dropped", "declined", "decreased", "shrank", "plunged", "slumped", "sank", "plummeted",
        "a decrease", "the decrease", "a fall", "the fall", "a drop", "the drop", "a decline", "the decline", "a slump",
        "went down", "gone down", "is down", "was down", "are down", "were down", "down by", "lower than", "below",
        "less than what was expected", "fell short",
    ],
    more: &["more", "higher", "above"],
    less: &["less", "fewer", "lower", "below"],
    negations: &["not", "no", "never", "neither", "nor", "without", "hardly", "didn't", "didn’t", "hasn't", "hasn’t"],
    auxiliaries: &["did", "has", "have", "had", "was", "were", "is", "are", "been", "a", "an"],
    copulas: &["was", "were", "is", "are", "reached", "been"],
    nothing: &["sold nothing", "nothing was sold", "there were no orders", "there were no sales", "without a single order"],
};
