//! What a page cannot show or do, as a page.

use std::fmt;

use actix_web::{
    HttpResponse, ResponseError,
    http::{
        StatusCode,
        header::{self, HeaderValue},
    },
};
use app::{
    deliveries::TrialError,
    passwords::HashError,
    webhooks::{CreateFailure, RotateFailure},
};
use domain::{
    StoreError, ads::AdListError, error::Chain, idempotency::IdempotencyError, insights::DecideError,
    reorder::ChangeError, webhooks::CreateError,
};

use crate::pages::{self, settings::Tab};

/// Why there is no page. Its text is written in the language of the caller, at the edge.
#[derive(Debug, Clone)]
pub enum PageError {
    NotFound,
    /// Nobody is logged in, and what is asked for is no page.
    LoggedOut,
    /// The role does not allow it.
    Forbidden,
    /// The person has to prove again who they are; the path to go on to.
    Unconfirmed(String),
    /// The user asks all members for a second factor, and the person has none yet.
    NoSecondFactor,
    /// The request was made by another site.
    CrossSite,
    /// The page that it comes from is of another account than the one that is looked at by now.
    OtherShop,
    /// What was sent cannot be read; the name of the field.
    Invalid(&'static str),
    /// A form did not arrive in time.
    TooSlow,
    /// A file is larger than it may be.
    TooLarge,
    /// Files wait to be imported, as many as may.
    TooManyFiles,
    /// The person made more requests than a minute has room for; in how many seconds there is room again.
    TooManyRequests(u64),
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
            Self::Unconfirmed(_) => "unconfirmed",
            Self::NoSecondFactor => "no-second-factor",
            Self::CrossSite => "cross-site",
            Self::OtherShop => "other-shop",
            Self::Invalid(_) => "invalid",
            Self::TooSlow => "too-slow",
            Self::TooLarge => "too-large",
            Self::TooManyFiles => "too-many-files",
            Self::TooManyRequests(_) => "too-many-requests",
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
            Self::NotFound
            | Self::LoggedOut
            | Self::Forbidden
            | Self::Unconfirmed(_)
            | Self::NoSecondFactor
            | Self::CrossSite
            | Self::OtherShop
            | Self::TooSlow
            | Self::TooLarge
            | Self::TooManyFiles
            | Self::TooManyRequests(_)
            | Self::Conflict => None,
        }
    }
}

/// What ends a file of which a part has been sent: by then only the log can be told why.
pub fn broke_off() -> impl FnMut(StoreError) -> PageError {
    let span = tracing::Span::current();
    move |error| {
        span.in_scope(|| tracing::error!(error = %Chain(&error), "a stream broke off"));
        error.into()
    }
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl std::error::Error for PageError {}

impl From<StoreError> for PageError {
    fn from(error: StoreError) -> Self {
        let cause = Chain(&error).to_string();
        match error {
            StoreError::Unavailable(_) | StoreError::Overloaded(_) => Self::Unavailable(cause),
            StoreError::Internal(_) => Self::Internal(cause),
        }
    }
}

impl From<AdListError> for PageError {
    fn from(error: AdListError) -> Self {
        match error {
            AdListError::NoSuchCampaign => Self::NotFound,
            AdListError::Store(error) => error.into(),
        }
    }
}

impl From<HashError> for PageError {
    fn from(error: HashError) -> Self {
        match error {
            HashError::Busy => Self::Unavailable(error.to_string()),
            HashError::Internal(cause) => Self::Internal(cause),
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
            TrialError::Busy => Self::Unavailable(error.to_string()),
            TrialError::Unsent(error) => Self::Internal(Chain(&error).to_string()),
        }
    }
}

impl ResponseError for PageError {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::LoggedOut => StatusCode::UNAUTHORIZED,
            Self::Forbidden | Self::CrossSite => StatusCode::FORBIDDEN,
            Self::Unconfirmed(_) | Self::NoSecondFactor => StatusCode::SEE_OTHER,
            Self::Invalid(_) => StatusCode::BAD_REQUEST,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Conflict | Self::OtherShop | Self::TooManyFiles => StatusCode::CONFLICT,
            Self::TooManyRequests(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Without a body: the edge writes it, but where the answer leads on to another page.
    fn error_response(&self) -> HttpResponse {
        let elsewhere = match self {
            Self::Unconfirmed(back) => Some(pages::confirm::address(back)),
            Self::NoSecondFactor => Some(Tab::SecondFactor.address().to_owned()),
            _ => None,
        };
        if let Some(address) = elsewhere {
            return HttpResponse::SeeOther().insert_header((header::LOCATION, address)).finish();
        }
        let mut response = HttpResponse::new(self.status_code());
        if let Self::TooManyRequests(seconds) = self {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(*seconds));
        }
        response.extensions_mut().insert(self.clone());
        response
    }
}
