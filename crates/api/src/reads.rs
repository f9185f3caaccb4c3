//! Reads for members who are logged in: the same handlers on the dashboard's listener, so that a link below a panel answers what
//! the call with a key does.

use std::{rc::Rc, sync::Arc};

use ::web::{access::Failure, request_id::RequestId};
use actix_web::{
    Error, HttpMessage,
    body::{BoxBody, MessageBody},
    dev::{ServiceRequest, ServiceResponse},
    middleware::{Next, from_fn},
    web::{Data, ServiceConfig},
};
use domain::{
    rate_limit::{Bucket, Quota, WINDOW},
    sessions::Session,
};

use crate::{
    auth::Caller,
    edge::fill_error,
    endpoint::survive,
    error::{ApiError, Code},
    state::State,
    streams::Streams,
    v1::TABLE,
};

/// What mounts the reads at these paths, and nothing else, on a listener that lets nobody in but members: it puts the
/// `Rc<Session>` of the caller among a request's extensions, and takes the [`Failure`] from those of an answer for its log.
pub fn reads(state: State, paths: &'static [&'static str]) -> impl Fn(&mut ServiceConfig) + Clone + Send + 'static {
    let (state, streams) = (Data::from(Arc::new(state)), Data::new(Streams::default()));
    move |config| {
        config.app_data(state.clone()).app_data(streams.clone());
        for read in TABLE.reads(paths) {
            config.service(read.wrap(from_fn(survive)).wrap(from_fn(as_member)));
        }
    }
}

/// Makes the member the caller, if the person has not read too much in this minute, and writes the body of an error.
async fn as_member(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let (session, id) = {
        let known = request.extensions();
        (known.get::<Rc<Session>>().cloned(), known.get::<RequestId>().cloned())
    };
    let mut quota = Quota::of(u32::MAX, 0, WINDOW, false);
    let state = request.app_data::<Data<State>>().cloned();
    if let (Some(session), Some(state)) = (session, state) {
        let (bucket, limit) = Bucket::of_person(session.person.id, true, state.settings.rate_limit_per_minute);
        quota = state.limiter.hit(bucket, limit).await;
        request.extensions_mut().insert(Caller::Member(session));
    }
    let mut response = if quota.exceeded {
        request.error_response(ApiError::new(Code::RateLimitExceeded))
    } else {
        next.call(request).await?.map_into_boxed_body()
    };
    let failure = response
        .response()
        .error()
        .and_then(|error| error.as_error::<ApiError>())
        .map(|error| Failure { code: error.code.as_str(), cause: error.cause.as_deref().map(ToOwned::to_owned) });
    if let (Some(failure), Some(id)) = (failure, id) {
        fill_error(&mut response, &id, &mut quota);
        response.response_mut().extensions_mut().insert(failure);
    }
    Ok(response)
}
