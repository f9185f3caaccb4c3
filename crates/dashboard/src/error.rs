//! What a page cannot show or do, as a page.

use std::fmt;

use actix_web::{HttpResponse, ResponseError, http::StatusCode};
use app::{
    deliveries::TrialError,
    webhooks::{CreateFailure, RotateFailure},
};
use domain::{
    StoreError, error::Chain, idempotency::IdempotencyError, insights::DecideError, reorder::ChangeError,
    webhooks::CreateError,
};

/// Why there is no page. Its text is written in the language of whoever asked, at the edge.
#[derive(Debug, Clone)]
pub enum PageError {
    NotFound,
    /// The role does not allow it.
    Forbidden,
    /// It was too long ago that the person proved who they are.
    Unconfirmed,
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
            Self::Forbidden => "forbidden",
            Self::Unconfirmed => "unconfirmed",
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
            Self::NotFound | Self::Forbidden | Self::Unconfirmed | Self::CrossSite | Self::Conflict => None,
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

impl From<IdempotencyError> for PageError {
    fn from(error: IdempotencyError) -> Self {
        match error {
            IdempotencyError::Reused | IdempotencyError::InProgress | IdempotencyError::Superseded => Self::Conflict,
            IdempotencyError::Store(error) => error.into(),
        }
    }
}

impl From<CreateFailure> for PageError {
    fn from(failure: CreateFailure) -> Self {
        match failure {
            CreateFailure::Refused(CreateError::LimitReached) => Self::Conflict,
            CreateFailure::Refused(CreateError::Idempotency(error)) => error.into(),
            CreateFailure::Seal(error) => Self::Internal(Chain(&error).to_string()),
        }
    }
}

impl From<RotateFailure> for PageError {
    fn from(failure: RotateFailure) -> Self {
        match failure {
            RotateFailure::NotFound => Self::NotFound,
            RotateFailure::Refused(error) => error.into(),
            RotateFailure::Seal(error) => Self::Internal(Chain(&error).to_string()),
        }
    }
}

impl From<TrialError> for PageError {
    fn from(error: TrialError) -> Self {
        match error {
            TrialError::Idempotency(error) => error.into(),
            TrialError::Unsent(error) => Self::Internal(Chain(&error).to_string()),
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Forbidden | Self::Unconfirmed | Self::CrossSite => StatusCode::FORBIDDEN,
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
