//! Notes about a request that was answered all the same.

use serde::Serialize;
use utoipa::ToSchema;

use crate::error::{ApiError, Code};

/// Something in the request that was not applied as sent, or that the answer lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Warning {
    /// `limit_clamped` (also of `days` and `hours`), `unknown_parameter`, `unknown_field`, `parameter_ignored`, `not_yet_computed`,
    /// `costs_missing`, `fx_missing`, `timezone_mismatch` or `no_ad_source`.
    #[schema(example = "limit_clamped")]
    pub code: &'static str,
    /// The parameter, or the field of the answer, that it is about.
    #[schema(example = "limit")]
    pub param: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 500)]
    pub requested: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = 100)]
    pub applied: Option<i64>,
}

impl Warning {
    /// That a field of the answer lacks something, or that a parameter is not applied.
    pub fn about(code: &'static str, field: &str) -> Self {
        Self { code, param: field.to_owned(), requested: None, applied: None }
    }
}

/// Left out of an answer when there are none.
pub type Warnings = Vec<Warning>;

/// Unknown names beyond these are not listed.
pub const MAX_UNKNOWN: usize = 16;
/// Longer names are cut when they are repeated in an answer.
pub const MAX_NAME_CHARS: usize = 64;

/// Adds a warning for each distinct unknown name, or refuses the first one under strict handling.
pub fn note_unknown<'a>(
    names: impl Iterator<Item = &'a str>,
    code: &'static str,
    strict: bool,
    warnings: &mut Warnings,
) -> Result<(), ApiError> {
    let mut listed = 0;
    for name in names {
        let shown: String = name.chars().take(MAX_NAME_CHARS).collect();
        if strict {
            return Err(match code {
                "unknown_field" => {
                    ApiError::new(Code::InvalidBody).message(format!("`{shown}` is not known.")).param(shown)
                }
                _ => ApiError::parameter(&shown, "is not known"),
            });
        }
        let repeated = warnings.iter().any(|warning| warning.code == code && warning.param == shown);
        if !repeated && listed < MAX_UNKNOWN {
            listed += 1;
            warnings.push(Warning { code, param: shown, requested: None, applied: None });
        }
    }
    Ok(())
}
