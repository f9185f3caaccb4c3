//! Programs that check the signature of what a webhook sends: those of the documentation, whose tests run them.

const DOCUMENTATION: &str = include_str!("../../../docs/webhooks.md");

const LANGUAGES: [&str; 5] = ["Python", "Node", "PHP", "Go", "Rust"];

/// The languages with their programs.
pub fn programs() -> Vec<(&'static str, &'static str)> {
    LANGUAGES.iter().filter_map(|language| Some((*language, program(language)?))).collect()
}

/// The first block of code below the heading of a language.
fn program(language: &str) -> Option<&'static str> {
    let (_, below) = DOCUMENTATION.split_once(&format!("\n### {language}\n"))?;
    let (_, block) = below.split_once("\n```")?;
    let (_, code) = block.split_once('\n')?;
    Some(code.split_once("\n```")?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_program() {
        let programs = programs();
        assert_eq!(programs.len(), LANGUAGES.len());
        let is_whole = |(_, code): &(&str, &str)| code.contains("x-svc-signature-previous") && !code.contains("```");
        assert!(programs.iter().all(is_whole), "{programs:?}");
    }
}
