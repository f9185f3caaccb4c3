use proptest::prelude::*;
use rstest::rstest;
use time::macros::datetime;

use super::*;

fn links() -> Links {
    Links { own_hosts: vec!["shop.example.com".into()], link: Some("https://shop.example.com/c".into()) }
}

fn content(variation: &str) -> Result<Content, InvalidContent> {
    Content::new("Prices", Category::PriceQuestion, Tongue::Spanish, vec![variation.into()], &links())
}

#[rstest]
#[case("¡Hola {username}! Los precios están en {link} 😊")]
#[case("Enviamos en 24 a 72 horas.\nMás en https://shop.example.com/envios.")]
#[case("Abrimos de 9 a.m. a 6 p.m. (lun./vie.) ¿Te esperamos?…¡Sí!")]
#[case("Mide 1.5 m y/o 2,5 m; v1.2 desde el 24.12. Mirá: «https://shop.example.com/talles?a=1#b».")]
#[case("Pensalo...chau, a las 10:30 h ✌️")]
fn a_plain_sentence_is_a_variation(#[case] text: &str) {
    content(text).unwrap();
}

#[rstest]
#[case("  ", VariationRefused::Empty)]
#[case("a\0", VariationRefused::Text(TextRefused::Nul))]
#[case("a\u{7}", VariationRefused::Control)]
#[case("Hola {name}", VariationRefused::Placeholder)]
#[case("Hola {username", VariationRefused::Placeholder)]
#[case("https://evil.example/", VariationRefused::ForeignLink)]
#[case("http://shop.example.com/", VariationRefused::ForeignLink)]
#[case("https://shop.example.com@evil.example/", VariationRefused::ForeignLink)]
#[case("https://shop.example.com:8443/", VariationRefused::ForeignLink)]
#[case("mirá evil.example/oferta", VariationRefused::ForeignLink)]
#[case("www.shop.example.com", VariationRefused::ForeignLink)]
#[case("mirá evil.рф", VariationRefused::ForeignLink)]
#[case("xn--80a.xn--p1ai", VariationRefused::ForeignLink)]
#[case("evil。com", VariationRefused::ForeignLink)]
#[case("evil．com/oferta", VariationRefused::ForeignLink)]
#[case("evil｡com", VariationRefused::ForeignLink)]
#[case("ev\u{ad}il.\u{200b}com", VariationRefused::ForeignLink)]
#[case("दुकान.भारत", VariationRefused::ForeignLink)]
#[case("1.2.3.4", VariationRefused::ForeignLink)]
#[case("(1.2.3.4:80/x)", VariationRefused::ForeignLink)]
#[case("localhost:80", VariationRefused::ForeignLink)]
#[case("//evil", VariationRefused::ForeignLink)]
#[case(r"https:/\evil.example", VariationRefused::ForeignLink)]
#[case(r"https://shop.example.com\.evil.example", VariationRefused::ForeignLink)]
#[case("https://shop.example.com．evil.example", VariationRefused::ForeignLink)]
#[case("https://shop.example.com/,https://evil.example", VariationRefused::ForeignLink)]
#[case("HTTPS://shop.example.com/", VariationRefused::ForeignLink)]
#[case("Cuesta $ 100", VariationRefused::Figure)]
#[case("Cuesta ＄100", VariationRefused::Figure)]
#[case("Cuesta ₿ 1", VariationRefused::Figure)]
#[case("Sale ١٠٠ pesos", VariationRefused::Figure)]
#[case("escribí a ﹫otro", VariationRefused::Mention)]
#[case("Sale 100 pesos", VariationRefused::Figure)]
#[case("custa 50reais", VariationRefused::Figure)]
#[case("20% off", VariationRefused::Figure)]
#[case("only 3 left", VariationRefused::Figure)]
#[case("quedan 3", VariationRefused::Figure)]
#[case("escribí a @otro", VariationRefused::Mention)]
fn what_could_do_harm_is_refused(#[case] text: &str, #[case] why: VariationRefused) {
    assert_eq!(content(text), Err(InvalidContent::Variation(why)));
}

#[test]
fn lengths_are_characters() {
    content(&"ñ".repeat(1_000)).unwrap();
    assert_eq!(content(&"ñ".repeat(1_001)), Err(VariationRefused::Text(TextRefused::TooLong { max: 1_000 }).into()));
    let named = |name: &str, count| {
        Content::new(name, Category::Other, Tongue::English, vec!["x".into(); count], &links()).map_err(|e| e.field())
    };
    assert_eq!((named(&"ñ".repeat(101), 1), named(" ", 1), named("a\nb", 1)), (Err("name"), Err("name"), Err("name")));
    assert_eq!((named("a", 0), named("a", 6)), (Err("variations"), Err("variations")));
    named(&"ñ".repeat(100), 5).unwrap();
}

fn template(state: TemplateState) -> Template {
    let at = datetime!(2026-11-20 10:00 UTC);
    Template {
        id: TemplateId(5),
        content: content("Hola").unwrap(),
        state,
        version: 2,
        approved_version: Some(1),
        approved_by: None,
        approved_at: None,
        used_count: 0,
        created_at: at,
        updated_at: at,
    }
}

fn approve() -> Option<Step> {
    Some(Step::Approve { by: "Ana".into(), seen: None })
}

#[rstest]
#[case(TemplateState::Draft, None, approve(), Some((TemplateState::Approved, false)))]
#[case(TemplateState::Draft, Some("Otra"), None, Some((TemplateState::Draft, true)))]
#[case(TemplateState::Approved, Some("Otra"), None, Some((TemplateState::Draft, true)))]
#[case(TemplateState::Approved, Some("Otra"), approve(), Some((TemplateState::Approved, true)))]
#[case(TemplateState::Approved, Some("Hola"), None, Some((TemplateState::Approved, false)))]
#[case(TemplateState::Approved, None, Some(Step::Retire), Some((TemplateState::Retired, false)))]
#[case(TemplateState::Retired, None, Some(Step::Retire), Some((TemplateState::Retired, false)))]
#[case(TemplateState::Retired, None, approve(), None)]
#[case(TemplateState::Retired, Some("Otra"), None, None)]
fn a_template_goes_from_draft_to_approved_to_retired(
    #[case] from: TemplateState,
    #[case] text: Option<&str>,
    #[case] step: Option<Step>,
    #[case] to: Option<(TemplateState, bool)>,
) {
    let change =
        TemplateChange { variations: text.map(|text| vec![text.to_owned()]), step, ..TemplateChange::default() };
    match (change.apply(&template(from), &links()), to) {
        (Ok(changed), Some(to)) => assert_eq!((changed.state, changed.is_new_version), to),
        (Err(ChangeError::Transition), None) => {}
        (other, _) => panic!("{other:?}"),
    }
}

#[test]
fn the_version_that_was_read_is_approved_and_no_other() {
    let approve = |seen| TemplateChange {
        step: Some(Step::Approve { by: "Ana".into(), seen: Some(seen) }),
        ..TemplateChange::default()
    };
    let draft = template(TemplateState::Draft);
    assert_eq!(approve(2).apply(&draft, &links()).unwrap().state, TemplateState::Approved);
    assert!(matches!(approve(1).apply(&draft, &links()), Err(ChangeError::Transition)));
}

#[test]
fn a_template_that_leads_to_a_host_of_before_can_be_retired() {
    let found = Template {
        content: content("Más en https://shop.example.com/c").unwrap(),
        ..template(TemplateState::Approved)
    };
    let none = Links { link: None, own_hosts: vec![] };
    let retire = TemplateChange { step: Some(Step::Retire), ..TemplateChange::default() };
    assert_eq!(retire.apply(&found, &none).unwrap().state, TemplateState::Retired);
    let renamed = TemplateChange { name: Some("Otro".to_owned()), ..TemplateChange::default() };
    assert!(matches!(renamed.apply(&found, &none), Err(ChangeError::Invalid(_))));
}

#[test]
fn a_name_cannot_smuggle_anything_in() {
    let said = render("Hola {username}: {link}", "@eva {link}\nwww", &links()).unwrap();
    assert_eq!(said, "Hola eva link www: https://shop.example.com/c");
    assert_eq!(render("{link}", "eva", &Links { link: None, ..links() }), None);
    assert_eq!(render("{link}", "eva", &Links { own_hosts: vec![], ..links() }), None);
}

#[rstest]
#[case(Channel::Facebook, "Ana María  López", Some("Hola Ana María López"))]
#[case(Channel::Facebook, "Jean-Luc O'Neill", Some("Hola Jean-Luc O'Neill"))]
#[case(Channel::Instagram, "ana.lopez", Some("Hola ana.lopez"))]
#[case::an_address(Channel::Instagram, "www.spam.example", None)]
#[case::a_host(Channel::Facebook, "Ana spam.example", None)]
#[case::withheld(Channel::Facebook, "", None)]
#[case::nothing_that_can_be_said(Channel::Facebook, " 💃 @ ", None)]
fn who_has_no_name_that_can_be_said_is_not_addressed(
    #[case] channel: Channel,
    #[case] username: &str,
    #[case] expected: Option<&str>,
) {
    let variations = ["Hola {username}", "Hola"].map(str::to_owned);
    let said = rendered(channel, &variations, username, &links());
    let named = said.iter().find(|text| *text != "Hola").map(String::as_str);
    assert_eq!((named, said.len()), (expected, 1 + usize::from(expected.is_some())));
}

#[rstest]
#[case("Más en https://shop.example.com/c", true)]
#[case("Más en www.shop.example", true)]
#[case("Estamos en shop.example.com.", true)]
#[case("Escribinos a ventas@shop.example", true)]
#[case("Seguinos: @tienda", true)]
#[case("WhatsApp 11 4555-1234", true)]
#[case("Llamá al (011)45551234", true)]
#[case("+54 9 11 4555 1234", true)]
#[case("wa.me/5491145551234", true)]
#[case("Sí, hay talles 36, 38, 40 y 42.", false)]
#[case("Talles 36 38 40 42", false)]
#[case("Llega en 24 a 48 horas. Gracias", false)]
#[case("Mide 1,20 x 2,00 m", false)]
#[case("Sale $ 1.250.000", false)]
fn a_contact_is_told_by_its_form(#[case] text: &str, #[case] is_one: bool) {
    assert_eq!(has_contact(text), is_one);
}

#[test]
fn a_channel_gets_what_it_takes() {
    let long = "a ".repeat(1_001);
    let all = ["Hola {username}", "Más en {link}", "Al 11 4555-1234", "Hay stock.", long.as_str()].map(str::to_owned);
    assert_eq!(usable_on(Channel::Mercadolibre, &all), ["Hay stock."]);
    assert_eq!(usable_on(Channel::Instagram, &all), all.each_ref());
}

proptest! {
    #[test]
    fn what_is_accepted_leads_nowhere_else(text in "\\PC{0,60}") {
        if content(&text).is_ok() {
            let said = render(&text, "eva", &links()).unwrap();
            for word in said.split_whitespace().filter(|word| word.contains("://")) {
                prop_assert!(is_own(word, &links().own_hosts), "{word}");
            }
        }
    }

    #[test]
    fn turns_are_variations(id in 1i64.., count in 1usize..=5) {
        prop_assert!(turn(ConversationId(id), count) < count);
    }
}
