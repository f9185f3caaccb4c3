//! A QR code (ISO/IEC 18004) as SVG: a square of one unit for each dark module.

use maud::{Markup, html};
use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules around the code (section 9.1 of the standard).
const QUIET: i32 = 4;

/// A code, as the path of its dark modules.
pub struct Code {
    path: String,
    /// Modules a side, with the margin.
    side: i32,
}

impl Code {
    /// Of a text; none where it is longer than a code can be.
    pub fn of(text: &str) -> Option<Self> {
        let code = QrCode::encode_text(text, QrCodeEcc::Medium).ok()?;
        let cells = (0..code.size()).flat_map(|y| (0..code.size()).map(move |x| (x, y)));
        let dark = cells.filter(|(x, y)| code.get_module(*x, *y));
        let path = dark.map(|(x, y)| format!("M{} {}h1v1h-1z", x + QUIET, y + QUIET)).collect();
        Some(Self { path, side: code.size() + 2 * QUIET })
    }
}

pub fn qr(code: &Code, label: &str) -> Markup {
    let Code { path, side } = code;
    html! {
        svg.qr viewBox={"0 0 " (side) " " (side)} width="216" height="216" role="img" aria-label=(label) {
            path.paper d={"M0 0h" (side) "v" (side) "H0z"} {}
            path.ink d=(path) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_three_corners_and_a_margin() {
        let code = Code::of("otpauth://totp/x?secret=JBSWY3DPEHPK3PXP").unwrap();
        let far = code.side - QUIET - 7;
        for (x, y) in [(QUIET, QUIET), (far, QUIET), (QUIET, far)] {
            assert!(code.path.contains(&format!("M{x} {y}h1")), "{x} {y}");
        }
        assert!(
            !code.path.contains("M0 ") && !code.path.contains(&format!("M{far} {far}h1v1h-1zM{} {far}h1", far + 1))
        );
        assert!(Code::of(&"x".repeat(5000)).is_none());
    }
}
