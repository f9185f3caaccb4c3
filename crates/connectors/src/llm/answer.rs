//! Reads what a provider answered, believing nothing.

use domain::ai::ModelError;
use serde_json::Value;

/// More than any model reads or writes at once.
const MAX_TOKENS: i64 = 100_000_000;

/// The model's answer, and the tokens for prompt and completion if they are stated as they should be.
pub(super) fn read(bytes: &[u8]) -> (Result<Value, ModelError>, Option<(i64, i64)>) {
    let body = match parse(bytes) {
        Ok(body) => body,
        Err(error) => return (Err(error), None),
    };
    (content(&body), tokens(&body))
}

fn parse(bytes: &[u8]) -> Result<Value, ModelError> {
    let text = bytes.trim_ascii();
    if text.is_empty() {
        return Err(ModelError::Empty);
    }
    serde_json::from_slice(text).map_err(|error| {
        // What begins like JSON and ends too early was cut off; anything else never was JSON.
        if error.is_eof() && text.starts_with(b"{") { ModelError::Truncated } else { ModelError::NotJson }
    })
}

fn tokens(body: &Value) -> Option<(i64, i64)> {
    let count = |name: &str| {
        body.pointer(&format!("/usage/{name}"))?.as_i64().filter(|tokens| (0..=MAX_TOKENS).contains(tokens))
    };
    Some((count("prompt_tokens")?, count("completion_tokens")?))
}

fn content(body: &Value) -> Result<Value, ModelError> {
    let choice = body.pointer("/choices/0").ok_or(ModelError::Malformed)?;
    if choice.get("finish_reason").and_then(Value::as_str) == Some("length") {
        return Err(ModelError::Truncated);
    }
    let content = match choice.pointer("/message/content") {
        None | Some(Value::Null) => return Err(ModelError::Empty),
        Some(content) => content.as_str().ok_or(ModelError::Malformed)?,
    };
    let answer = parse(unfenced(content).as_bytes())?;
    if answer.is_object() { Ok(answer) } else { Err(ModelError::Malformed) }
}

/// The text without the fence that models like to put around JSON.
fn unfenced(content: &str) -> &str {
    let text = content.trim();
    let Some(inner) = text.strip_prefix("```") else { return text };
    inner.strip_prefix("json").unwrap_or(inner).trim_end().trim_end_matches("```")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn answered(content: &Value) -> Vec<u8> {
        json!({ "choices": [{ "message": { "content": content } }] }).to_string().into_bytes()
    }

    #[rstest]
    #[case(json!("{\"a\":1}"), Ok(json!({"a": 1})))]
    #[case(json!(" ```json\n{\"a\":1}\n``` "), Ok(json!({"a": 1})))]
    #[case(json!("{\"a\":"), Err(ModelError::Truncated))]
    #[case(json!("{\"a\":1}{"), Err(ModelError::NotJson))]
    #[case(json!("Sure! Here you go: {}"), Err(ModelError::NotJson))]
    #[case(json!("<html>"), Err(ModelError::NotJson))]
    #[case(json!(""), Err(ModelError::Empty))]
    #[case(json!("  \n"), Err(ModelError::Empty))]
    #[case(json!(null), Err(ModelError::Empty))]
    #[case(json!(["{}"]), Err(ModelError::Malformed))]
    #[case(json!("[]"), Err(ModelError::Malformed))]
    #[case(json!("7"), Err(ModelError::Malformed))]
    fn content_is_one_json_object(#[case] content: Value, #[case] read_as: Result<Value, ModelError>) {
        assert_eq!(read(&answered(&content)).0, read_as);
    }

    #[rstest]
    #[case(b"", ModelError::Empty)]
    #[case(b"<!doctype html>", ModelError::NotJson)]
    #[case(b"{\"choices\":[{\"mess", ModelError::Truncated)]
    #[case(b"{}", ModelError::Malformed)]
    #[case(b"[]", ModelError::Malformed)]
    #[case(b"{\"choices\":[]}", ModelError::Malformed)]
    #[case(b"\xff\xfe", ModelError::NotJson)]
    #[case(b"{\"choices\":[{\"finish_reason\":\"length\",\"message\":{\"content\":\"{}\"}}]}", ModelError::Truncated)]
    fn other_bodies_have_names(#[case] body: &[u8], #[case] error: ModelError) {
        assert_eq!(read(body), (Err(error), None));
    }

    #[rstest]
    #[case(json!({"prompt_tokens": 12, "completion_tokens": 0}), Some((12, 0)))]
    #[case(json!({"prompt_tokens": 12}), None)]
    #[case(json!({"prompt_tokens": -1, "completion_tokens": 5}), None)]
    #[case(json!({"prompt_tokens": 1.5, "completion_tokens": 5}), None)]
    #[case(json!({"prompt_tokens": "12", "completion_tokens": 5}), None)]
    #[case(json!({"prompt_tokens": 1_000_000_000_000i64, "completion_tokens": 5}), None)]
    #[case(json!(null), None)]
    fn usage_is_believed_only_as_counts(#[case] usage: Value, #[case] tokens: Option<(i64, i64)>) {
        assert_eq!(read(json!({ "usage": usage }).to_string().as_bytes()).1, tokens);
    }
}
