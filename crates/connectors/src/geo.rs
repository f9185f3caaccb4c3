//! Where an address is, by GeoIP database files in MaxMind's format.
//!
//! Two layouts are read: the flat one of `ip-location-db` (`country_code`, `state1`, `city`) and the nested one of
//! GeoLite2 and DB-IP (`country.iso_code`, `subdivisions[0].names.en`, `city.names.en`).

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use domain::tracking::{Geolocator, Location};
use maxminddb::{MaxMindDbError, Mmap, PathElement, Reader};

/// GeoIP files, mapped into memory. Some publishers cut IPv4 and IPv6 apart: the first file that knows an address
/// answers. Without a file, nothing is known of any address.
#[derive(Default)]
pub struct GeoIp {
    readers: Vec<Reader<Mmap>>,
}

/// A configured file is not there or not a GeoIP database.
#[derive(Debug, thiserror::Error)]
#[error("{} is not a GeoIP database: {error}", path.display())]
pub struct NotADatabase {
    path: PathBuf,
    error: MaxMindDbError,
}

impl GeoIp {
    /// Opens the files. They may be replaced while in use only by renaming another file over them; the new one is
    /// read after a restart.
    pub fn open<'a>(files: impl IntoIterator<Item = &'a Path>) -> Result<Self, NotADatabase> {
        let readers =
            files.into_iter().map(|path| map(path).map_err(|error| NotADatabase { path: path.to_owned(), error }));
        Ok(Self { readers: readers.collect::<Result<_, _>>()? })
    }
}

#[expect(unsafe_code, reason = "mapping keeps a 130 MB database out of the process's own memory")]
fn map(path: &Path) -> Result<Reader<Mmap>, MaxMindDbError> {
    // SAFETY: the file is opened read-only; operators replace it by renaming, as documented, never in place.
    unsafe { Reader::open_mmap(path) }
}

impl Geolocator for GeoIp {
    fn locate(&self, address: IpAddr) -> Location {
        self.readers
            .iter()
            .map(|reader| locate(reader, address))
            .find(|location| location.country.is_some())
            .unwrap_or_default()
    }
}

fn locate(reader: &Reader<Mmap>, address: IpAddr) -> Location {
    use PathElement::{Index, Key};
    let first = |paths: [&[PathElement<'_>]; 2]| paths.into_iter().find_map(|path| text(reader, address, path));
    let country = first([&[Key("country_code")], &[Key("country"), Key("iso_code")]]);
    Location {
        country: country.filter(|code| code.len() == 2).map(|code| code.to_ascii_uppercase()),
        region: first([&[Key("state1")], &[Key("subdivisions"), Index(0), Key("names"), Key("en")]]),
        city: first([&[Key("city")], &[Key("city"), Key("names"), Key("en")]]),
    }
}

/// The text at `path`; none for a family that the file does not cover, an address without an entry, or another type.
fn text(reader: &Reader<Mmap>, address: IpAddr, path: &[PathElement<'_>]) -> Option<String> {
    let found = reader.lookup(address).ok()?;
    found.decode_path::<String>(path).ok().flatten().filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rstest::rstest;

    use super::*;

    /// Three networks: 203.0.113.0/24 (flat layout), 198.51.100.0/24 (flat, empty texts), 2001:db8:1::/48 (nested).
    fn tiny() -> GeoIp {
        GeoIp::open([Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tiny.mmdb"))]).unwrap()
    }

    fn location(country: &str, region: &str, city: &str) -> Location {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Location { country: some(country), region: some(region), city: some(city) }
    }

    #[rstest]
    #[case("203.0.113.9", location("AR", "Buenos Aires", "La Plata"))]
    #[case("2001:db8:1::9", location("BR", "São Paulo", "Campinas"))]
    #[case("198.51.100.9", location("MX", "", ""))]
    #[case("192.0.2.1", Location::default())]
    #[case("2001:db8:2::1", Location::default())]
    fn an_address_is_found_in_either_layout(#[case] address: IpAddr, #[case] expected: Location) {
        assert_eq!(tiny().locate(address), expected);
    }

    #[test]
    fn a_file_that_is_no_database_is_refused_by_name() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(b"not a database").unwrap();
        let error = GeoIp::open([file.path()]).err().unwrap().to_string();
        assert!(error.contains(file.path().to_str().unwrap()), "{error}");
    }

    #[test]
    fn without_a_file_nothing_is_known() {
        assert_eq!(GeoIp::default().locate([203, 0, 113, 9].into()), Location::default());
    }
}
