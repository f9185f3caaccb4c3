//! What moves the figures of a shop. A text that brings one into play which its draft does not speak of hints at a cause, with
//! or without a causal word: "the checkout cost you orders".

use super::{Refusal, Wording, letters, lexicon::Lexicon, phrases::Sentence};

/// The levers with the words for them in all languages; `*` stands for any ending.
const LEVERS: [&[&str]; 10] = [
    &["ad", "ads", "advert*", "anunci*", "publici*", "campaign*", "campan*", "marketing"],
    &["price*", "pricing", "precio*", "preco*"],
    &["shipping", "freight", "envios", "frete", "fretes", "flete", "fletes"],
    &["checkout", "payment*", "pago", "pagos", "pagamento*"],
    &["visit*", "traffic", "trafico", "trafego"],
    &["stock*", "inventor*", "estoque*", "existencias", "quiebre*", "ruptura*"],
    &["discount*", "descuento*", "desconto*", "coupon*", "cupon*", "cupom", "cupons", "promoc*", "promotion*"],
    &[
        "cost",
        "costs",
        "costo",
        "costos",
        "costes",
        "custo",
        "custos",
        "custou",
        "custaram",
        "fee",
        "fees",
        "comision*",
        "comissao",
    ],
    &["supplier*", "proveedor*", "fornecedor*", "deliver*", "entrega*", "budget*", "presupuesto*", "orcamento*"],
    &[
        "website", "sitio", "site", "server", "servidor", "bug", "bugs", "error*", "erro", "erros", "fallo*", "falla*",
        "falh*", "problem*",
    ],
];

/// What the texts of a draft speak of.
#[derive(Default)]
pub(super) struct Topics(Vec<String>);

impl Topics {
    pub(super) fn of(draft: &Wording) -> Self {
        let words = |(_, text, _): (_, &str, _)| {
            let text = letters::folded(&letters::composed(text));
            text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>()
        };
        Self(draft.fields().into_iter().flat_map(words).collect())
    }

    /// # Errors
    /// The first word for a lever that the draft does not speak of, in a sentence that is no advice.
    pub(super) fn check(&self, sentences: &[Sentence], lexicon: &Lexicon) -> Result<(), Refusal> {
        for sentence in sentences.iter().filter(|sentence| !sentence.begins_with_any(lexicon.advice)) {
            let words = sentence.words();
            let new = LEVERS.iter().filter(|lever| !self.0.iter().any(|word| is_one_of(word, lever)));
            let mut found = new.filter_map(|lever| words.iter().find(|word| is_one_of(word, lever)));
            if let Some(word) = found.next() {
                return Err(Refusal::Lever((*word).to_owned()));
            }
        }
        Ok(())
    }
}

fn is_one_of(word: &str, patterns: &[&str]) -> bool {
    patterns.iter().any(|pattern| match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == *pattern,
    })
}
