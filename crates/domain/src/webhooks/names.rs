//! Host names that never mean a public receiver, whatever the name service would answer.

/// Last labels that name nothing on the public Internet.
///
/// RFC 6761 (`test`, `localhost`, `invalid`, `example`), RFC 6762 with its appendix G (`local`, `intranet`,
/// `internal`, `private`, `corp`, `home`, `lan`), RFC 7686 (`onion`), RFC 9476 (`alt`), RFC 3172 (`arpa`, which holds
/// `home.arpa` of RFC 8375), the name collisions that ICANN will not delegate (`mail`), and the suffixes under which
/// container platforms and service discovery publish what is inside.
const RESERVED_SUFFIXES: [&str; 21] = [
    "alt",
    "arpa",
    "cluster",
    "consul",
    "corp",
    "docker",
    "example",
    "home",
    "internal",
    "intranet",
    "invalid",
    "lan",
    "local",
    "localdomain",
    "localhost",
    "mail",
    "nomad",
    "onion",
    "private",
    "svc",
    "test",
];

/// Metadata services that go by a name under a public domain, and all that is below them.
const METADATA_NAMES: [&str; 4] =
    ["metadata.goog", "metadata.packet.net", "metadata.platformequinix.com", "metadata.tencentyun.com"];

/// Why a name in lower-case ASCII, without a trailing dot, must not be called.
pub(super) fn private_name(name: &str) -> Option<&'static str> {
    let Some((_, last)) = name.rsplit_once('.') else {
        return Some("the host is a name without a dot, which only means something inside a network");
    };
    if RESERVED_SUFFIXES.contains(&last) {
        return Some("the host ends in a name that is reserved or used inside networks only");
    }
    let below = |parent: &&str| name.strip_suffix(*parent).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    METADATA_NAMES.iter().any(below).then_some("the host is a metadata service")
}

/// Whether a name in lower-case ASCII, without a trailing dot, can be asked for: at most 253 characters in labels of
/// 1 to 63 letters, digits, hyphens (not at an end) and underscores (not a host name by RFC 1123, but in real use).
pub(super) fn is_well_formed(name: &str) -> bool {
    name.len() <= 253
        && name.split('.').all(|label| {
            (1..=63).contains(&label.len())
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
        })
}
