//! What templates look like on the wire.

use domain::{
    page::{Page, PageRequest},
    social::{
        Category, Tongue,
        templates::{Template, TemplateState, Version},
    },
};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    names,
    respond::{API_VERSION, Pagination, Warnings, instant},
    warnings::Warning,
};

/// A template with its newest version.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReplyTemplate)]
pub struct TemplateBody {
    #[schema(example = 5)]
    id: i64,
    #[schema(example = "Prices")]
    name: String,
    #[schema(schema_with = names::comment_category)]
    category: Category,
    #[schema(schema_with = names::tongue)]
    language: Tongue,
    /// Of the newest version.
    #[schema(schema_with = names::template_state)]
    state: TemplateState,
    /// The newest one.
    #[schema(example = 2)]
    version: i64,
    /// The one in use; null before the first approval.
    #[schema(example = 2)]
    approved_version: Option<i64>,
    #[schema(example = json!(["¡Hola {username}! Los precios están en {link}"]))]
    variations: Vec<String>,
    /// Who approved the newest version.
    #[schema(example = "Ana")]
    approved_by: Option<String>,
    #[schema(format = DateTime)]
    approved_at: Option<String>,
    /// Answers that were sent with it.
    #[schema(example = 41)]
    used_count: i64,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    created_at: String,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    updated_at: String,
}

impl From<Template> for TemplateBody {
    fn from(template: Template) -> Self {
        let Template {
            id,
            content,
            state,
            version,
            approved_version,
            approved_by,
            approved_at,
            used_count,
            created_at,
            updated_at,
        } = template;
        Self {
            id: id.0,
            name: content.name().to_owned(),
            category: content.category(),
            language: content.language(),
            state,
            version,
            approved_version,
            variations: content.variations().to_vec(),
            approved_by,
            approved_at: approved_at.map(instant),
            used_count,
            created_at: instant(created_at),
            updated_at: instant(updated_at),
        }
    }
}

/// One template.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OneReplyTemplate)]
pub struct OneBody {
    #[serde(flatten)]
    template: TemplateBody,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl OneBody {
    pub fn new(template: Template, warnings: Warnings) -> Self {
        Self { template: template.into(), api_version: API_VERSION, warnings }
    }
}

/// A version of a template. It never changes, but for being approved.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReplyTemplateVersion)]
struct VersionBody {
    #[schema(example = 2)]
    version: i64,
    #[schema(schema_with = names::comment_category)]
    category: Category,
    #[schema(schema_with = names::tongue)]
    language: Tongue,
    #[schema(example = json!(["¡Hola {username}! Los precios están en {link}"]))]
    variations: Vec<String>,
    #[schema(example = "Ana")]
    approved_by: Option<String>,
    #[schema(format = DateTime)]
    approved_at: Option<String>,
    #[schema(format = DateTime, example = "2026-11-20T10:00:00Z")]
    created_at: String,
}

impl From<Version> for VersionBody {
    fn from(found: Version) -> Self {
        let Version { version, category, language, variations, approved_by, approved_at, created_at } = found;
        Self {
            version,
            category,
            language,
            variations,
            approved_by,
            approved_at: approved_at.map(instant),
            created_at: instant(created_at),
        }
    }
}

/// A template with a page of its versions, the newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReplyTemplateWithVersions)]
pub struct WholeBody {
    #[serde(flatten)]
    template: TemplateBody,
    versions: Vec<VersionBody>,
    pagination: Pagination,
    #[schema(value_type = String, example = "v1")]
    api_version: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Warning>, required = false)]
    warnings: Warnings,
}

impl WholeBody {
    pub fn new(template: Template, page: PageRequest, found: Page<Version>, warnings: Warnings) -> Self {
        Self {
            template: template.into(),
            pagination: Pagination::new(page, &found),
            versions: found.items.into_iter().map(Into::into).collect(),
            api_version: API_VERSION,
            warnings,
        }
    }
}
