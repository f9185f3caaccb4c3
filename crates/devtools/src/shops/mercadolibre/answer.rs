//! What is answered.

use serde_json::{Value, json};

/// A status and JSON.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    pub fn json(status: u16, body: &Value) -> Self {
        Self { status, body: body.clone() }
    }

    pub fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    /// A refusal in the form of most resources.
    pub fn refused(status: u16, error: &str, message: &str) -> Self {
        Self { status, body: json!({"message": message, "error": error, "status": status, "cause": []}) }
    }

    pub fn not_found() -> Self {
        Self::refused(404, "not_found", "resource not found")
    }
}
