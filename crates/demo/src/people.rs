//! Invented customers.

use domain::{
    accounts::Platform,
    imports::{Buyer, CountryCode},
};

use super::draw::Draw;

/// A customer, without what they buy.
#[derive(Debug, Clone)]
pub(super) struct Person {
    pub(super) platform: Platform,
    pub(super) country: Option<CountryCode>,
    buyer: Buyer,
}

const FIRST_NAMES: [&str; 48] = [
    "Lucía",
    "Mateo",
    "Sofía",
    "Bruno",
    "Valentina",
    "Thiago",
    "Camila",
    "Joaquín",
    "Martina",
    "Benjamín",
    "Isabella",
    "Santiago",
    "Renata",
    "Emiliano",
    "Ximena",
    "Diego",
    "Fernanda",
    "Rafael",
    "Beatriz",
    "Caio",
    "Helena",
    "Otávio",
    "Larissa",
    "Vinícius",
    "Inês",
    "Duarte",
    "Catarina",
    "Tomás",
    "Giulia",
    "Matteo",
    "Chiara",
    "Lorenzo",
    "Élodie",
    "Julien",
    "Margaux",
    "Théo",
    "Greta",
    "Jonas",
    "Frieda",
    "Lukas",
    "Paula",
    "Andrés",
    "Carolina",
    "Nicolás",
    "Antonia",
    "Vicente",
    "Manuela",
    "Sebastián",
];

const LAST_NAMES: [&str; 48] = [
    "Aldana",
    "Barrientos",
    "Cabrales",
    "Dávila",
    "Echeverri",
    "Figueroa",
    "Galindo",
    "Herrera",
    "Ibáñez",
    "Jaramillo",
    "Lagos",
    "Montalvo",
    "Navarrete",
    "Olivares",
    "Pizarro",
    "Quiroga",
    "Rosales",
    "Salcedo",
    "Tévez",
    "Urrutia",
    "Villalba",
    "Zamorano",
    "Almeida",
    "Barcelos",
    "Coutinho",
    "Drummond",
    "Esteves",
    "Furtado",
    "Guimarães",
    "Lacerda",
    "Meireles",
    "Nogueira",
    "Pacheco",
    "Queiroz",
    "Rezende",
    "Sampaio",
    "Tavares",
    "Vasconcelos",
    "Bellini",
    "Conti",
    "Ferraro",
    "Moretti",
    "Laurent",
    "Mercier",
    "Roussel",
    "Brandt",
    "Keller",
    "Vogel",
];

/// Invented towns by country.
const COUNTRIES: [(&str, [&str; 4]); 11] = [
    ("AR", ["Puerto Alba", "Villa Serena", "San Telmo del Río", "Los Ceibos"]),
    ("BR", ["Porto Sereno", "Nova Aurora do Sul", "Campo Dourado", "Ilha Clara"]),
    ("MX", ["San Jacinto del Valle", "Puerto Jade", "Santa Lumbre", "Real de Agaves"]),
    ("CL", ["Valle Austral", "Puerto Niebla", "Los Coihues", "Bahía Cobre"]),
    ("CO", ["Villa Orquídea", "San Café", "Puerto Esmeralda", "Altos del Roble"]),
    ("UY", ["Costa Mansa", "Villa Charrúa", "Puerto Faro", "Las Palmeras"]),
    ("ES", ["Villaluz de la Sierra", "Puerto Olivo", "Castellar del Viento", "Aldeamar"]),
    ("PT", ["Vila do Farol", "Serra Branca", "Porto das Velas", "Monte Azulejo"]),
    ("IT", ["Borgo Sereno", "Porto Limone", "Montechiaro al Lago", "Villafiore"]),
    ("FR", ["Saint-Aubin-des-Pins", "Port-Lavande", "Clairval", "Montbrume"]),
    ("DE", ["Lindenau am See", "Rosenfurt", "Bergwalde", "Neuhafen"]),
];

impl Person {
    pub(super) fn draw(ordinal: u64, platform: Platform, draw: &mut Draw) -> Self {
        // The marketplace and the regional shop sell in Latin America alone.
        let reach = match platform {
            Platform::Shopify => COUNTRIES.len(),
            Platform::Mercadolibre => 5,
            _ => 3,
        };
        // The first of two draws in order: more customers near home.
        let country = draw.place(reach).min(draw.place(reach));
        let (code, towns) = COUNTRIES.get(country).copied().unwrap_or_default();
        let (first, last) = (draw.pick(&FIRST_NAMES), draw.pick(&LAST_NAMES));
        // A marketplace does not tell its sellers the buyers' addresses.
        let email = (platform != Platform::Mercadolibre)
            .then(|| format!("{}.{}.{ordinal}@example.com", plain(first), plain(last)));
        let buyer = Buyer {
            external_id: (first_number(platform) + ordinal).to_string(),
            email,
            name: Some(format!("{first} {last}")),
            city: Some(draw.pick(&towns).to_owned()),
        };
        Self { platform, country: code.parse().ok(), buyer }
    }

    pub(super) fn buyer(&self) -> Buyer {
        self.buyer.clone()
    }
}

/// Where a visitor is: country and town.
pub(super) fn place(draw: &mut Draw) -> (&'static str, &'static str) {
    let country = draw.place(COUNTRIES.len()).min(draw.place(COUNTRIES.len()));
    let (code, towns) = COUNTRIES.get(country).copied().unwrap_or_default();
    (code, draw.pick(&towns))
}

/// Which shop a customer buys in: five in six in the shop's own one.
pub(super) fn platform(draw: &mut Draw) -> Platform {
    match draw.below(100) {
        0..84 => Platform::Shopify,
        84..94 => Platform::Mercadolibre,
        _ => Platform::Tiendanube,
    }
}

fn first_number(platform: Platform) -> u64 {
    match platform {
        Platform::Shopify => 7_100_000_000_000,
        Platform::Mercadolibre => 610_000_000,
        _ => 48_000_000,
    }
}

/// Small letters without accents, for addresses.
fn plain(name: &str) -> String {
    let without_accent = |letter: char| match letter {
        'á' | 'â' | 'ã' => 'a',
        'é' | 'ê' => 'e',
        'í' => 'i',
        'ó' | 'ô' => 'o',
        'ú' => 'u',
        'ñ' => 'n',
        'ç' => 'c',
        other => other,
    };
    name.to_lowercase().chars().map(without_accent).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_becomes_plain_letters() {
        for name in FIRST_NAMES.iter().chain(&LAST_NAMES) {
            assert!(plain(name).bytes().all(|byte| byte.is_ascii_lowercase()), "{name}");
        }
    }

    #[test]
    fn every_country_has_a_code() {
        for (code, _) in COUNTRIES {
            assert!(code.parse::<CountryCode>().is_ok(), "{code}");
        }
    }
}
