//! `/api/v1/webhooks/verify`: for finding out why a receiver does not accept a signature.

use actix_web::web;
use domain::webhooks::{
    signature::Secret,
    verify::{Verdict, is_valid, verdicts},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use utoipa::{
    ToSchema,
    openapi::schema::{Object, ObjectBuilder, SchemaType, Type},
};
use validator::Validate;

use crate::{
    auth::Caller,
    body::Json,
    error::ApiError,
    input::Input,
    query::{NoParams, Query},
    respond::{API_VERSION, Reply, Warnings},
    state::State,
    warnings::Warning,
};

/// A text for each header, or a number, as which a timestamp is written easily.
fn headers() -> Object {
    let value = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Number]));
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("The headers by name; case does not matter."))
        .additional_properties(Some(value))
        .examples([json!({"x-svc-timestamp": "1777636800", "x-svc-signature": "00"})])
        .build()
}

/// A delivery as it was received. Nothing of it is kept or logged.
#[derive(Deserialize, Validate, ToSchema)]
#[schema(as = DeliveryToVerify)]
pub struct VerifyRequest {
    /// The exact body.
    #[schema(example = "{\"event\":\"credits.low\",\"data\":{}}")]
    body: String,
    /// The headers by name; case does not matter.
    #[schema(schema_with = headers)]
    headers: Map<String, Value>,
    #[schema(
        pattern = "^whsec_([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{4}|[A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)$",
        example = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
    )]
    secret: String,
}

impl Input for VerifyRequest {}

/// What one of the two signatures is worth.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SignatureVerdict)]
pub struct VerdictBody {
    #[schema(value_type = String, example = "x-svc-signature")]
    header: &'static str,
    #[schema(example = true)]
    valid: bool,
    /// What is wrong; null when nothing is.
    problem: Option<String>,
}

impl From<Verdict> for VerdictBody {
    fn from(Verdict { header, problem }: Verdict) -> Self {
        Self { header, valid: problem.is_none(), problem: problem.map(|problem| problem.to_string()) }
    }
}

/// What is right and what is wrong.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Verified)]
pub struct VerifiedBody {
    /// Whether every signature that is there is right, and there is one.
    #[schema(example = true)]
    valid: bool,
    signatures: Vec<VerdictBody>,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

/// Check a signature.
///
/// Checks the signatures of a delivery and says which part is wrong.
#[utoipa::path(
    post, path = "/api/v1/webhooks/verify", tag = "webhooks", operation_id = "verify_delivery",
    responses((status = 200, description = "A verdict for each signature.", body = VerifiedBody)),
    security(("api_key" = ["write"]))
)]
pub async fn verify(
    _: Caller,
    query: Query<NoParams>,
    body: Json<VerifyRequest>,
    state: web::Data<State>,
) -> Result<Reply, ApiError> {
    let (VerifyRequest { body, headers, secret }, _, warnings) = body.into_parts(query.warnings);
    let secret =
        Secret::parse(&secret).map_err(|invalid| ApiError::parameter("secret", &format!("is wrong: {invalid}")))?;
    let headers = headers.into_iter().map(|(name, value)| match value {
        Value::String(text) => Ok((name, text)),
        Value::Number(number) => Ok((name, number.to_string())),
        _ => Err(ApiError::parameter("headers", "must have a text or a number for each header")),
    });
    let headers = headers.collect::<Result<Vec<_>, _>>()?;
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    };
    let found = verdicts(&secret, header, body.as_bytes(), (state.clock)());
    let valid = is_valid(&found);
    let signatures = found.into_iter().map(VerdictBody::from).collect();
    Reply::done(&VerifiedBody { valid, signatures, api_version: API_VERSION, warnings })
}
