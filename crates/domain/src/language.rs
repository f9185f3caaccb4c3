//! The languages that texts are written in.

text_enum!(
    /// A language, by its BCP 47 tag. Codes, names of fields and enumerations are the same in all of them.
    Language {
        English = "en",
        Spanish = "es",
        /// Brazilian Portuguese.
        BrazilianPortuguese = "pt-BR",
    }
);
