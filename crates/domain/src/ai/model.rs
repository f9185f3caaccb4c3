//! The port to a language model.

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde_json::Value;

/// What a model is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What it is to do.
    pub system: String,
    /// What it is to do it with: data, never instructions.
    pub user: String,
    /// JSON Schema of the answer, and what the schema is called.
    pub schema: Value,
    pub schema_name: &'static str,
    pub max_output_tokens: u32,
}

text_enum!(
    /// Why there is no answer.
    ModelError {
        /// No connection, or one that broke off.
        Unreachable = "unreachable",
        /// No answer by the deadline.
        Timeout = "timeout",
        /// 429 until the deadline or the last try.
        RateLimited = "rate_limited",
        /// 503 until the deadline or the last try, or another 5xx.
        ServerError = "server_error",
        /// Another status that is no success: a wrong key, an unknown model, a request that the provider does not take.
        Rejected = "rejected",
        /// The answer is a page or a text, not JSON.
        NotJson = "not_json",
        /// The answer breaks off, or the model ran into its limit of tokens.
        Truncated = "truncated",
        /// The answer says nothing.
        Empty = "empty",
        /// The answer is larger than what is read.
        TooLarge = "too_large",
        /// JSON of another shape than asked for.
        Malformed = "malformed",
    }
);

/// US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prices {
    pub input: Decimal,
    pub output: Decimal,
}

impl Prices {
    /// What these tokens cost, exactly.
    pub fn cost(&self, prompt_tokens: i64, completion_tokens: i64) -> Decimal {
        let part = |price: Decimal, tokens: i64| {
            price.checked_mul(Decimal::from(tokens)).map_or(Decimal::ZERO, |cost| cost / Decimal::from(1_000_000))
        };
        part(self.input, prompt_tokens) + part(self.output, completion_tokens)
    }
}

/// What a call used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
    pub cost_usd: Decimal,
    /// An upper bound: the provider did not say.
    pub estimated: bool,
}

impl Usage {
    /// A call that the provider charges nothing for.
    pub const NONE: Self = Self { prompt_tokens: 0, completion_tokens: 0, cost_usd: Decimal::ZERO, estimated: false };
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Completion {
    /// The answer as JSON; whether it is what the schema says has not been looked at.
    pub answer: Result<Value, ModelError>,
    pub usage: Usage,
}

#[cfg_attr(feature = "mock", mockall::automock)]
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// As the provider calls it.
    fn name(&self) -> String;
    /// The most that a call with this prompt can use.
    fn bound(&self, prompt: &Prompt) -> Usage;
    /// Asks the model, within the deadline that it was set up with. What was asked is asked again only where the
    /// provider says that it did not take it up.
    async fn complete(&self, prompt: &Prompt) -> Completion;
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::Prices;

    #[test]
    fn cost_is_exact() {
        let prices = Prices { input: dec!(0.15), output: dec!(0.60) };
        assert_eq!(prices.cost(1, 0), dec!(0.00000015));
        assert_eq!(prices.cost(1_234_567, 89), dec!(0.18523845));
    }
}
