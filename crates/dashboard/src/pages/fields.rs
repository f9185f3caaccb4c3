//! The fields of a form of which some may be there several times.

use serde::Deserialize;

/// What a form sent, in its order.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// The last value of a field.
    pub fn one(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    /// Every value of a field.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| &**value)
    }
}

#[cfg(test)]
mod tests {
    use actix_web::{FromRequest, test::TestRequest, web::Form};

    use super::*;

    #[actix_web::test]
    async fn a_field_may_be_there_several_times() {
        let request = TestRequest::default()
            .insert_header(("content-type", "application/x-www-form-urlencoded"))
            .set_payload("event=a&url=x%26y&event=b+c");
        let (request, mut payload) = request.to_http_parts();
        let fields: Form<Fields> = Form::from_request(&request, &mut payload).await.unwrap();
        assert_eq!(fields.all("event").collect::<Vec<_>>(), ["a", "b c"]);
        assert_eq!((fields.one("url"), fields.one("none")), (Some("x&y"), None));
    }
}
