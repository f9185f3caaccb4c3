//! What a page cannot show or do, as a page.

use std::fmt;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use domain::{StoreError, error::Chain, insights::DecideError, reorder::ChangeError};

/// Why there is no page. Its text is written in the language of whoever asked, at the edge.
#[derive(Debug, Clone)]
pub enum PageError {
    NotFound,
    /// Nobody is logged in, and what is asked for is no page.
    LoggedOut,
    /// The role does not allow it.
    Forbidden,
    /// The request was made by another site.
    CrossSite,
    /// What was sent cannot be read; the name of the field.
    Invalid(&'static str),
    /// It is no longer as it was when the page was drawn.
    Conflict,
    /// The database is away or busy.
    Unavailable(String),
    Internal(String),
}

impl PageError {
    /// The name of its texts, and of the error in the log.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::LoggedOut => "logged-out",
            Self::Forbidden => "forbidden",
            Self::CrossSite => "cross-site",
            Self::Invalid(_) => "invalid",
            Self::Conflict => "conflict",
            Self::Unavailable(_) => "unavailable",
            Self::Internal(_) => "internal",
        }
    }

    /// For the log.
    pub fn cause(&self) -> Option<&str> {
        match self {
            Self::Unavailable(cause) | Self::Internal(cause) => Some(cause),
            Self::Invalid(field) => Some(field),
            Self::NotFound | Self::LoggedOut | Self::Forbidden | Self::CrossSite | Self::Conflict => None,
        }
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        let cause = Chain(&error).to_string();
        match error {
            StoreError::Unavailable(_) | StoreError::Overloaded(_) => Self::Unavailable(cause),
            StoreError::Internal(_) => Self::Internal(cause),
        }
    }
}

impl From<DecideError> for PageError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::NotFound => Self::NotFound,
            DecideError::Refused(_) | DecideError::OtherOpen => Self::Conflict,
            DecideError::Store(error) => error.into(),
        }
    }
}

impl From<ChangeError> for PageError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::NotFound => Self::NotFound,
            ChangeError::Refused(_) | ChangeError::OtherPending => Self::Conflict,
            ChangeError::Store(error) => error.into(),
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::LoggedOut => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::Conflict => StatusCode::CONFLICT,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Without a body: the edge writes it.
    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::new(self.status_code());
        response.extensions_mut().insert(self.clone());
        response
    }
}
