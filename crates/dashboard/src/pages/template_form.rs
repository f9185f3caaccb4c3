//! The form of a template of answers: its fields as texts, and what is wrong with them.

use domain::social::{
    Category, Tongue,
    templates::{Content, InvalidContent, MAX_NAME_CHARS, MAX_VARIATION_CHARS, MAX_VARIATIONS, VariationRefused},
};

use super::{
    bot::{category, language, pick},
    fields::Fields,
};
use crate::{
    error::PageError,
    text::Writer,
    views::form::{Field, Input},
};

/// The fields of the variations.
const VARIATIONS: [&str; MAX_VARIATIONS] = ["variation1", "variation2", "variation3", "variation4", "variation5"];

/// A template as a form asks for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    pub name: String,
    pub category: Option<Category>,
    pub language: Option<Tongue>,
    /// Those that say something, in their order.
    pub variations: Vec<String>,
}

impl Wanted {
    pub fn of(content: &Content) -> Self {
        Self {
            name: content.name().to_owned(),
            category: Some(content.category()),
            language: Some(content.language()),
            variations: content.variations().to_vec(),
        }
    }

    /// What a form sent. Browsers send line feeds as CR LF (HTML, 4.10.22.7).
    ///
    /// # Errors
    /// For a category or a language that there is not: the form offers the others.
    pub fn sent(fields: &Fields) -> Result<Self, PageError> {
        let text = |name: &str| fields.one(name).unwrap_or_default().replace("\r\n", "\n");
        Ok(Self {
            name: text("name"),
            category: Some(text("category").parse().map_err(|_| PageError::Invalid("category"))?),
            language: Some(text("language").parse().map_err(|_| PageError::Invalid("language"))?),
            variations: VARIATIONS.map(text).into_iter().filter(|text| !text.trim().is_empty()).collect(),
        })
    }
}

/// The field at fault, and what is wrong with it.
pub fn fault(writer: &Writer, invalid: &InvalidContent) -> (&'static str, String) {
    let (field, words) = match invalid {
        InvalidContent::EmptyName | InvalidContent::Name(_) | InvalidContent::ControlInName => {
            ("name", "template-bad-name")
        }
        InvalidContent::Count => ("variation1", "template-bad-count"),
        InvalidContent::Variation(refused) => match refused {
            VariationRefused::Empty | VariationRefused::Text(_) | VariationRefused::Control => {
                ("variation1", "template-bad-text")
            }
            VariationRefused::Placeholder => ("variation1", "template-bad-placeholder"),
            VariationRefused::ForeignLink => ("variation1", "template-bad-link"),
            VariationRefused::Figure => ("variation1", "template-bad-figure"),
            VariationRefused::Mention => ("variation1", "template-bad-mention"),
        },
    };
    (field, writer.message(words).count("most", MAX_VARIATION_CHARS as i64).say())
}

pub fn fields(writer: &Writer, wanted: &Wanted, fault: Option<&(&'static str, String)>) -> Vec<Field> {
    let error = |name: &str| fault.filter(|(field, _)| *field == name).map(|(_, text)| text.clone());
    let line = Input::Line { kind: "text", value: wanted.name.clone(), max: Some(MAX_NAME_CHARS), is_required: true };
    let name =
        Field { name: "name", label: writer.say("template-name"), help: None, error: error("name"), input: line };
    let about = |one: &Category| (*one, one.to_string(), category(writer, *one));
    let tongue = |one: &Tongue| (*one, one.to_string(), language(writer, *one));
    let choices = [
        pick("category", writer.say("conversation-comment"), None, Category::ALL.iter().map(about), wanted.category),
        pick("language", writer.say("template-language"), None, Tongue::ALL.iter().map(tongue), wanted.language),
    ];
    let variation = |(number, field): (usize, &'static str)| Field {
        name: field,
        label: writer.message("template-variation").text("number", (number + 1).to_string()).say(),
        help: (number == 0).then(|| writer.say("template-variation-help")),
        error: error(field),
        input: Input::Area {
            value: wanted.variations.get(number).cloned().unwrap_or_default(),
            max: Some(MAX_VARIATION_CHARS),
        },
    };
    std::iter::once(name).chain(choices).chain(VARIATIONS.into_iter().enumerate().map(variation)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tests::writer;

    #[test]
    fn a_form_is_read_without_its_empty_fields_and_drawn_as_it_was_sent() {
        let sent = "name=Prices&category=price_question&language=es&variation1=a%0D%0Ab&variation2=+&variation3=c";
        let fields: Fields = serde_urlencoded_of(sent);
        let wanted = Wanted::sent(&fields).ok().unwrap();
        assert_eq!(wanted.variations, ["a\nb", "c"]);
        let fault = fault(&writer("en"), &InvalidContent::Variation(VariationRefused::Mention));
        let drawn = super::fields(&writer("en"), &wanted, Some(&fault));
        assert_eq!(
            drawn.iter().filter(|field| field.error.is_some()).map(|field| field.name).collect::<Vec<_>>(),
            ["variation1"]
        );
        assert_eq!(drawn.len(), 8);
        assert!(matches!(
            Wanted::sent(&serde_urlencoded_of("category=love&language=es")),
            Err(PageError::Invalid("category"))
        ));
    }

    #[test]
    fn a_text_that_is_too_long_is_told_how_long_it_may_be() {
        let refused = InvalidContent::Variation(VariationRefused::Empty);
        let told = |locale| fault(&writer(locale), &refused).1;
        assert!(told("es-AR").contains(" 1.000 ") && told("es-MX").contains(" 1,000 "), "{}", told("es-MX"));
    }

    fn serde_urlencoded_of(text: &str) -> Fields {
        actix_web::web::Query::<Fields>::from_query(text).unwrap().into_inner()
    }
}
