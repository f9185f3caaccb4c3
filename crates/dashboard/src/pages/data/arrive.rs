//! A file as it arrives: kept piece by piece, and none of it held for longer than it takes to keep.

use actix_multipart::{Field, Multipart};
use actix_web::{HttpResponse, web::Data};
use domain::{
    AccountId, UploadId,
    uploads::{Kind, MAX_BYTES, MAX_NAME_CHARS, PIECE_BYTES},
};
use futures_util::TryStreamExt;

use crate::{error::PageError, pages::see, session::Viewer, state::State};

/// Bytes of a field that is no file.
const MAX_FIELD: usize = 64;

/// Takes a file in, and leads on to what it is.
pub async fn post(viewer: Viewer, state: Data<State>, mut parts: Multipart) -> Result<HttpResponse, PageError> {
    let mut kind = None;
    while let Some(mut field) = parts.try_next().await.map_err(|_| PageError::Invalid("file"))? {
        match field.name() {
            Some("kind") => kind = Some(text(&mut field).await?.parse().map_err(|_| PageError::Invalid("kind"))?),
            Some("file") => {
                let kind = kind.ok_or(PageError::Invalid("kind"))?;
                let id = arrive(&state, viewer.account(), kind, field).await?;
                return Ok(see(&format!("/data/{id}")));
            }
            _ => {}
        }
    }
    Err(PageError::Invalid("file"))
}

async fn text(field: &mut Field) -> Result<String, PageError> {
    let bytes = field.bytes(MAX_FIELD).await.map_err(|_| PageError::Invalid("kind"))?;
    let bytes = bytes.map_err(|_| PageError::Invalid("kind"))?;
    String::from_utf8(bytes.to_vec()).map_err(|_| PageError::Invalid("kind"))
}

/// Keeps the bytes of a file. What does not arrive whole is removed, at once or with the old ones.
async fn arrive(state: &State, account: AccountId, kind: Kind, field: Field) -> Result<UploadId, PageError> {
    let name = file_name(field.content_disposition().and_then(|about| about.get_filename()).unwrap_or_default());
    let begun = state.uploads.begin(account, kind, &name, (state.clock)()).await?;
    let id = begun.ok_or(PageError::TooManyFiles)?;
    match keep(state, account, id, field).await {
        Ok(bytes) => {
            state.uploads.arrived(account, id, bytes).await?;
            Ok(id)
        }
        Err(error) => {
            state.uploads.discard(account, id, None, (state.clock)()).await?;
            Err(error)
        }
    }
}

async fn keep(state: &State, account: AccountId, id: UploadId, mut field: Field) -> Result<i64, PageError> {
    let (mut held, mut number, mut total) = (Vec::with_capacity(PIECE_BYTES), 0, 0_u64);
    while let Some(chunk) = field.try_next().await.map_err(|_| PageError::Invalid("file"))? {
        total += chunk.len() as u64;
        if total > MAX_BYTES {
            return Err(PageError::TooLarge);
        }
        held.extend_from_slice(&chunk);
        while held.len() >= PIECE_BYTES {
            let rest = held.split_off(PIECE_BYTES);
            append(state, account, id, number, std::mem::replace(&mut held, rest)).await?;
            number += 1;
        }
    }
    if !held.is_empty() {
        append(state, account, id, number, held).await?;
    }
    if total == 0 { Err(PageError::Invalid("file")) } else { Ok(i64::try_from(total).unwrap_or(i64::MAX)) }
}

/// Keeps a piece. What has been arriving for too long was removed, and nothing is added to it.
async fn append(state: &State, account: AccountId, id: UploadId, number: i64, bytes: Vec<u8>) -> Result<(), PageError> {
    let is_kept = state.uploads.append(account, id, number, bytes).await?;
    if is_kept { Ok(()) } else { Err(PageError::Invalid("file")) }
}

/// The last part of what the browser calls the file, without what cannot be shown.
fn file_name(given: &str) -> String {
    let last = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let name: String = last.chars().filter(|c| !c.is_control()).take(MAX_NAME_CHARS).collect();
    if name.trim().is_empty() { "–".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_the_browser_calls_it_without_its_folders() {
        assert_eq!(file_name("C:\\fakepath\\pedidos\u{7}.csv"), "pedidos.csv");
        assert_eq!(file_name("../../etc/passwd"), "passwd");
        assert_eq!(file_name(""), "–");
        assert_eq!(file_name(&"x".repeat(500)).len(), MAX_NAME_CHARS);
    }
}
