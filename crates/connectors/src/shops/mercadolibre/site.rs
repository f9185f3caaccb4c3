//! The countries that Mercado Libre is in.

use domain::{imports::CountryCode, money::Currency, shops::ShopError};

/// One country's Mercado Libre.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Site {
    /// Three letters, with which the identifiers of items begin.
    id: &'static str,
    country: &'static str,
    currency: &'static str,
    domain: &'static str,
}

const fn site(id: &'static str, country: &'static str, currency: &'static str, domain: &'static str) -> Site {
    Site { id, country, currency, domain }
}

const SITES: [Site; 18] = [
    site("MLA", "AR", "ARS", "mercadolibre.com.ar"),
    site("MLB", "BR", "BRL", "mercadolivre.com.br"),
    site("MLM", "MX", "MXN", "mercadolibre.com.mx"),
    site("MLC", "CL", "CLP", "mercadolibre.cl"),
    site("MCO", "CO", "COP", "mercadolibre.com.co"),
    site("MLU", "UY", "UYU", "mercadolibre.com.uy"),
    site("MPE", "PE", "PEN", "mercadolibre.com.pe"),
    site("MEC", "EC", "USD", "mercadolibre.com.ec"),
    site("MLV", "VE", "VES", "mercadolibre.com.ve"),
    site("MBO", "BO", "BOB", "mercadolibre.com.bo"),
    site("MPY", "PY", "PYG", "mercadolibre.com.py"),
    site("MGT", "GT", "GTQ", "mercadolibre.com.gt"),
    site("MPA", "PA", "USD", "mercadolibre.com.pa"),
    site("MRD", "DO", "DOP", "mercadolibre.com.do"),
    site("MCR", "CR", "CRC", "mercadolibre.co.cr"),
    site("MHN", "HN", "HNL", "mercadolibre.com.hn"),
    site("MSV", "SV", "USD", "mercadolibre.com.sv"),
    site("MNI", "NI", "NIO", "mercadolibre.com.ni"),
];

impl Site {
    pub fn of(id: &str) -> Option<Self> {
        SITES.into_iter().find(|site| site.id == id)
    }

    /// The site that an item is listed on.
    pub fn of_item(item: &str) -> Option<Self> {
        Self::of(item.get(..3)?)
    }

    pub fn in_country(country: CountryCode) -> Option<Self> {
        SITES.into_iter().find(|site| site.country == country.as_str())
    }

    pub fn country(self) -> Option<CountryCode> {
        self.country.parse().ok()
    }

    pub fn currency(self) -> Result<Currency, ShopError> {
        self.currency.parse().map_err(|_| ShopError::Malformed("site_id: its currency".to_owned()))
    }

    /// Where the country's sellers grant access.
    pub fn authorize_url(self) -> String {
        format!("https://auth.{}/authorization", self.domain)
    }

    /// The seller's shop as a host name. Of the number, since nicknames can change.
    pub fn shop(self, seller: &str) -> String {
        format!("{seller}.{}", self.domain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_site_has_a_country_and_a_currency() {
        for site in SITES {
            assert!(site.country().is_some() && site.currency().is_ok(), "{}", site.id);
            assert_eq!(Site::in_country(site.country().unwrap()), Some(site));
        }
    }

    #[test]
    fn an_item_tells_its_site() {
        assert_eq!(Site::of_item("MLB3737188005").unwrap().domain, "mercadolivre.com.br");
        assert_eq!(Site::of_item("ML"), None);
        assert_eq!(Site::of_item("ñandú"), None);
    }
}
