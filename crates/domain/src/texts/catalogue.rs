//! The templates, read once.

use std::sync::LazyLock;

use fluent_bundle::{FluentArgs, FluentResource, concurrent::FluentBundle};
use fluent_syntax::ast::Pattern;

use crate::language::Language;

macro_rules! files {
    ($language:literal: $($file:literal),+ $(,)?) => {
        &[$(include_str!(concat!("../../texts/", $language, "/", $file, ".ftl"))),+]
    };
}

/// The files of a language.
pub(super) const fn files(language: Language) -> &'static [&'static str] {
    match language {
        Language::English => {
            files!("en": "causes", "countries", "figures", "incidents", "insights", "mails", "profit", "refusals", "reorder", "risks", "stories")
        }
        Language::Spanish => {
            files!("es": "causes", "countries", "figures", "incidents", "insights", "mails", "profit", "refusals", "reorder", "risks", "stories")
        }
        Language::BrazilianPortuguese => {
            files!("pt-BR": "causes", "countries", "figures", "incidents", "insights", "mails", "profit", "refusals", "reorder", "risks", "stories")
        }
    }
}

type Bundle = FluentBundle<FluentResource>;

/// Templates in every language.
pub struct Catalogue([(Language, Bundle); 3]);

/// The service's own.
pub(super) static SERVICE: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::of(files));

impl Catalogue {
    /// Of the files that `files` gives for a language, in the syntax of Project Fluent.
    pub fn of(files: fn(Language) -> &'static [&'static str]) -> Self {
        let languages = [Language::English, Language::Spanish, Language::BrazilianPortuguese];
        Self(languages.map(|language| (language, bundle(language, files(language)))))
    }

    fn pattern(&self, language: Language, id: &str, attribute: Option<&str>) -> Option<(&Bundle, &Pattern<&str>)> {
        let (_, bundle) = self.0.iter().find(|(of, _)| *of == language)?;
        let message = bundle.get_message(id)?;
        let pattern = match attribute {
            Some(name) => message.get_attribute(name)?.value(),
            None => message.value()?,
        };
        Some((bundle, pattern))
    }
}

fn bundle(language: Language, files: &[&str]) -> Bundle {
    let mut bundle = Bundle::new_concurrent(vec![language.as_str().parse().unwrap_or_default()]);
    // The marks that keep texts of the other direction apart are of no use in JSON.
    bundle.set_use_isolating(false);
    for file in files {
        // The files are tested: each is whole, and no message is there twice.
        let resource = FluentResource::try_new((*file).to_owned()).unwrap_or_else(|(resource, _)| resource);
        bundle.add_resource_overriding(resource);
    }
    bundle
}

/// The text of a message, or of one of its attributes. A message that no catalogue has is shown as its name, a figure that
/// was not given as its own: the tests, where either panics, fill every message that the code asks for.
pub(super) fn filled(
    catalogues: &[&'static Catalogue],
    language: Language,
    id: &str,
    attribute: Option<&str>,
    args: &FluentArgs<'_>,
) -> String {
    let mut errors = Vec::new();
    let text = catalogues
        .iter()
        .find_map(|catalogue| catalogue.pattern(language, id, attribute))
        .map(|(bundle, pattern)| bundle.format_pattern(pattern, Some(args), &mut errors).into_owned());
    #[cfg(test)]
    super::tests::note(language, id, attribute, &errors, text.as_deref());
    text.unwrap_or_else(|| id.to_owned())
}
