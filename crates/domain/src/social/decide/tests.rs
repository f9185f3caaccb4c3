use proptest::prelude::*;
use rstest::rstest;
use time::macros::datetime;

use super::*;
use crate::social::{
    classify,
    settings::{Caps, Hours, Weekday},
    templates::Links,
};

const NOW: OffsetDateTime = datetime!(2026-11-20 10:00 UTC);

struct World {
    settings: Settings,
    classified: Classified,
    templates: Vec<Approved>,
    zone: Zone,
    text: String,
}

impl World {
    fn asking(text: &str, mode: Mode) -> Self {
        let template = |id, category| Approved {
            id: TemplateId(id),
            version: 2,
            category,
            language: Tongue::Spanish,
            variations: vec!["Hola {username}".into()],
        };
        Self {
            settings: Settings { mode, model_vote: true, ..Settings::default() },
            classified: classify(text),
            templates: vec![
                template(5, Category::PriceQuestion),
                template(6, Category::Complaint),
                template(7, Category::Spam),
                template(8, Category::Praise),
            ],
            zone: Zone::utc(),
            text: text.to_owned(),
        }
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            now: NOW,
            channel: Channel::Instagram,
            zone: &self.zone,
            settings: &self.settings,
            is_enabled: true,
            is_blocked: false,
            is_token_dead: false,
            commented_at: NOW - Duration::minutes(5),
            is_hidden: false,
            is_deleted: false,
            text: &self.text,
            username: "ana",
            thread: Thread {
                conversation: ConversationId(1),
                handling: Handling::Bot,
                is_open: true,
                opted_out: false,
                was_answered: false,
                has_human: false,
            },
            sent: Sent::default(),
            same_text_from: 1,
            classified: &self.classified,
            vote: Vote::Closed,
            templates: &self.templates,
            language: Tongue::Spanish,
            random: 0,
        }
    }
}

fn price(mode: Mode) -> World {
    World::asking("¿Cuánto cuesta este vestido?", mode)
}

fn held(decision: &Decision) -> Option<Reason> {
    match decision {
        Decision::Hold { reason, .. } => Some(*reason),
        _ => None,
    }
}

#[test]
fn each_mode_does_what_it_says() {
    let choice = Choice { template: TemplateId(5), version: 2, message: "Hola ana".into() };
    assert_eq!(decide(&price(Mode::Off).situation()), Decision::None);
    assert_eq!(decide(&price(Mode::DryRun).situation()), Decision::DryRun { choice: choice.clone() });
    assert_eq!(held(&decide(&price(Mode::Approve).situation())), Some(Reason::NeedsApproval));
    let sent = Decision::Send { choice, due_at: NOW + Duration::seconds(20) };
    assert_eq!(decide(&price(Mode::Auto).situation()), sent);
}

#[test]
fn the_kill_switch_of_the_installation_leaves_it_to_people() {
    let world = price(Mode::Auto);
    let off = Situation { is_enabled: false, ..world.situation() };
    assert_eq!(held(&decide(&off)), Some(Reason::NeedsApproval));
}

fn with(change: impl FnOnce(&mut Situation<'_>)) -> Option<Reason> {
    let world = price(Mode::Auto);
    let mut situation = world.situation();
    change(&mut situation);
    held(&decide(&situation))
}

#[test]
fn every_brake_holds() {
    assert_eq!(with(|s| s.is_deleted = true), Some(Reason::Deleted));
    assert_eq!(with(|s| s.is_hidden = true), Some(Reason::Hidden));
    assert_eq!(with(|s| s.thread.opted_out = true), Some(Reason::OptedOut));
    assert_eq!(with(|s| s.thread.handling = Handling::Human), Some(Reason::HumanActive));
    assert_eq!(with(|s| s.thread.is_open = false), Some(Reason::HumanActive));
    assert_eq!(with(|s| s.thread.has_human = true), Some(Reason::HumanActive));
    assert_eq!(with(|s| s.thread.was_answered = true), Some(Reason::HumanActive));
    assert_eq!(with(|s| s.is_token_dead = true), Some(Reason::TokenDead));
    assert_eq!(with(|s| s.is_blocked = true), Some(Reason::Blocked));
    assert_eq!(with(|s| s.commented_at = NOW - AGE_LIMIT), None);
    assert_eq!(with(|s| s.commented_at = NOW - AGE_LIMIT - Duration::SECOND), Some(Reason::TooOld));
    assert_eq!(with(|s| s.same_text_from = RAID_COMMENTERS), Some(Reason::Raid));
    assert_eq!(with(|s| s.same_text_from = RAID_COMMENTERS - 1), None);
    assert_eq!(with(|s| s.templates = &[]), Some(Reason::NoTemplate));
    for (sent, expected) in [
        (Sent { user_day: 3, ..Sent::default() }, Some(Reason::CapReached)),
        (Sent { user_day: 2, post_hour: 29, account_hour: 59 }, None),
        (Sent { post_hour: 30, ..Sent::default() }, Some(Reason::CapReached)),
        (Sent { account_hour: 60, ..Sent::default() }, Some(Reason::CapReached)),
    ] {
        assert_eq!(with(|s| s.sent = sent), expected, "{sent:?}");
    }
}

#[rstest]
#[case("Son unos estafadores, ¿precio?", Reason::Complaint)]
#[case("gana dinero facil en www.x.com", Reason::Spam)]
#[case("¿cuánto cuesta y hacen envíos?", Reason::LowConfidence)]
#[case("blablabla", Reason::LowConfidence)]
#[case("STOP, ¿cuánto cuesta?", Reason::OptedOut)]
#[case("¿Hacen envíos a Salta?", Reason::NoTemplate)]
fn a_comment_that_is_no_clear_question_is_held(#[case] text: &str, #[case] reason: Reason) {
    let mut world = World::asking(text, Mode::Auto);
    world.settings.opt_out_words = vec!["stop".into()];
    assert_eq!(held(&decide(&world.situation())), Some(reason), "{:?}", world.classified);
}

#[test]
fn only_what_can_be_said_takes_turns() {
    let mut world = price(Mode::Auto);
    let approved = |id, variations: &[&str]| Approved {
        id: TemplateId(id),
        variations: variations.iter().map(|&text| text.to_owned()).collect(),
        ..world.templates[0].clone()
    };
    world.templates = vec![approved(9, &["En {link}"]), approved(10, &["Ver {link}", "Está a la vista."])];
    world.settings.links = Links::default();
    for conversation in 1..=4 {
        let mut situation = world.situation();
        situation.thread.conversation = ConversationId(conversation);
        let Decision::Send { choice, .. } = decide(&situation) else { panic!("{conversation}") };
        assert_eq!((choice.template, choice.message.as_str()), (TemplateId(10), "Está a la vista."));
    }
}

#[test]
fn a_question_gets_what_its_channel_takes() {
    let mut world = price(Mode::Auto);
    let on = |world: &World, channel| match decide(&Situation { channel, ..world.situation() }) {
        Decision::Send { choice, .. } => Some(choice.message),
        other => {
            assert_eq!(held(&other), Some(Reason::NoTemplate));
            None
        }
    };
    assert_eq!(on(&world, Channel::Instagram).as_deref(), Some("Hola ana"));
    assert_eq!(on(&world, Channel::Mercadolibre), None, "it tells no names");
    let approved = |id, variations: &[&str]| Approved {
        id: TemplateId(id),
        variations: variations.iter().map(|&text| text.to_owned()).collect(),
        ..world.templates[0].clone()
    };
    let (unusable, usable) =
        (approved(9, &["En {link}", "Por @tienda"]), approved(10, &["{username}…", "Está a la vista."]));
    world.templates = vec![unusable, usable];
    for conversation in 1..=4 {
        let mut situation = world.situation();
        situation.channel = Channel::Mercadolibre;
        situation.thread.conversation = ConversationId(conversation);
        let Decision::Send { choice, .. } = decide(&situation) else { panic!("{conversation}") };
        assert_eq!((choice.template, choice.message.as_str()), (TemplateId(10), "Está a la vista."));
    }
}

#[test]
fn a_person_may_use_the_template_for_complaints() {
    let world = World::asking("Son unos estafadores", Mode::Auto);
    let Decision::Hold { choice: Some(choice), reason: Reason::Complaint, again_at: None } = decide(&world.situation())
    else {
        panic!()
    };
    assert_eq!(choice.template, TemplateId(6));
}

#[test]
fn praise_waits_for_a_person() {
    let world = World::asking("Me encanta!", Mode::Auto);
    assert_eq!(held(&decide(&world.situation())), Some(Reason::NeedsApproval));
}

#[test]
fn outside_of_its_hours_it_waits_unless_the_comment_gets_too_old() {
    let mut world = price(Mode::Auto);
    let hours = |day| vec![Hours { day, from: time::macros::time!(09:00), to: time::macros::time!(18:00) }];
    world.settings.business_hours = hours(Weekday::Saturday);
    let again = |world: &World| match decide(&world.situation()) {
        Decision::Hold { reason: Reason::QuietHours, again_at, .. } => again_at,
        other => panic!("{other:?}"),
    };
    assert_eq!(again(&world), Some(datetime!(2026-11-21 09:00 UTC)));
    world.settings.business_hours = hours(Weekday::Sunday);
    assert_eq!(again(&world), None);
}

#[test]
fn opting_out_is_a_word_not_a_part_of_one() {
    let words = vec!["no molestar".to_owned(), "BASTA".to_owned()];
    assert!(names_opt_out("Por favor, ¡no molestar!", &words) && names_opt_out("bastá", &words));
    assert!(!names_opt_out("bastante", &words) && !names_opt_out("no me molesta", &words));
    assert!(!names_opt_out("anything", &[]));
}

/// A question of which the rules are not sure: too many words that they do not know.
const DOUBTFUL: &str = "¿Cuánto cuesta zarbo plimo brixo?";

fn voted(text: &str, mode: Mode, vote: Vote) -> Decision {
    let world = World::asking(text, mode);
    decide(&Situation { vote, ..world.situation() })
}

#[test]
fn a_model_is_asked_where_the_rules_are_in_doubt_and_about_templates_for_people_never() {
    for mode in [Mode::DryRun, Mode::Approve, Mode::Auto] {
        let asked = Decision::Ask { candidates: vec![TemplateId(5), TemplateId(8)] };
        assert_eq!(voted(DOUBTFUL, mode, Vote::Open), asked, "{mode}");
    }
    assert_eq!(voted(DOUBTFUL, Mode::Off, Vote::Open), Decision::None);
    assert_eq!(held(&voted(DOUBTFUL, Mode::Auto, Vote::Closed)), Some(Reason::LowConfidence));
    let portuguese = "quanto custa zarbo plimo brixo?";
    assert_eq!(held(&voted(portuguese, Mode::Auto, Vote::Open)), Some(Reason::LowConfidence), "no template speaks it");
}

#[rstest]
#[case::clear("¿Cuánto cuesta este vestido?")]
#[case::complaint("Son unos estafadores, ¿cuánto cuesta zarbo plimo brixo?")]
#[case::spam("¿Cuánto cuesta zarbo plimo brixo? www.x.com")]
#[case::praise("Me encanta!")]
#[case::surely_out_of_scope("@ana ¿cuánto cuesta zarbo plimo brixo?")]
fn a_model_is_not_asked_what_the_rules_are_sure_of(#[case] text: &str) {
    for vote in [Vote::Open, Vote::For(TemplateId(5)), Vote::ForNone, Vote::Unusable, Vote::Unpaid] {
        assert_eq!(voted(text, Mode::Auto, vote), voted(text, Mode::Auto, Vote::Closed), "{vote:?}");
    }
}

#[test]
fn an_old_or_a_long_comment_is_read_by_people() {
    let world = World::asking(DOUBTFUL, Mode::Auto);
    let asked = |age| decide(&Situation { vote: Vote::Open, commented_at: NOW - age, ..world.situation() });
    assert!(matches!(asked(VOTE_WITHIN), Decision::Ask { .. }));
    assert_eq!(held(&asked(VOTE_WITHIN + Duration::SECOND)), Some(Reason::LowConfidence));
    let long = format!("{DOUBTFUL} {}", "zarbo ".repeat(MAX_VOTE_CHARS / 6));
    assert_eq!(held(&voted(&long, Mode::Auto, Vote::Open)), Some(Reason::LowConfidence));
}

#[test]
fn a_vote_that_is_switched_off_decides_nothing() {
    let mut world = World::asking(DOUBTFUL, Mode::Auto);
    world.settings.model_vote = false;
    for vote in [Vote::Open, Vote::For(TemplateId(5)), Vote::ForNone, Vote::Unusable, Vote::Unpaid] {
        let decided = decide(&Situation { vote, ..world.situation() });
        assert_eq!(held(&decided), Some(Reason::LowConfidence), "{vote:?}");
    }
}

#[test]
fn no_model_is_asked_where_another_brake_holds() {
    let world = World::asking(DOUBTFUL, Mode::Auto);
    let asking = Situation { vote: Vote::Open, ..world.situation() };
    assert!(matches!(decide(&asking), Decision::Ask { .. }));
    type Brake = fn(&mut Situation<'_>);
    let brakes: [(Brake, Reason); 8] = [
        (|s| s.is_hidden = true, Reason::Hidden),
        (|s| s.thread.opted_out = true, Reason::OptedOut),
        (|s| s.thread.is_open = false, Reason::HumanActive),
        (|s| s.thread.has_human = true, Reason::HumanActive),
        (|s| s.thread.was_answered = true, Reason::HumanActive),
        (|s| s.same_text_from = RAID_COMMENTERS, Reason::Raid),
        (|s| s.commented_at = NOW - AGE_LIMIT - Duration::SECOND, Reason::TooOld),
        (|s| s.is_token_dead = true, Reason::TokenDead),
    ];
    for (brake, reason) in brakes {
        for vote in [Vote::Open, Vote::For(TemplateId(5))] {
            let mut situation = Situation { vote, ..asking };
            brake(&mut situation);
            assert_eq!(held(&decide(&situation)), Some(reason), "{vote:?}");
        }
    }
}

#[test]
fn a_vote_is_used_only_where_nothing_else_decides() {
    let used = |text: &str, change: fn(&mut Settings), brake: fn(&mut Situation<'_>)| {
        let mut world = World::asking(text, Mode::Auto);
        change(&mut world.settings);
        let mut situation = Situation { vote: Vote::For(TemplateId(5)), ..world.situation() };
        brake(&mut situation);
        goes_by_vote(&situation)
    };
    assert!(used(DOUBTFUL, |_| {}, |_| {}));
    assert!(used(DOUBTFUL, |_| {}, |s| s.vote = Vote::ForNone));
    assert!(!used(DOUBTFUL, |_| {}, |s| s.thread.has_human = true));
    assert!(!used(DOUBTFUL, |settings| settings.model_vote = false, |_| {}));
    assert!(!used(DOUBTFUL, |settings| settings.mode = Mode::Off, |_| {}));
    assert!(!used("¿Cuánto cuesta este vestido?", |_| {}, |_| {}));
}

#[rstest]
#[case::both_mean_the_same(DOUBTFUL, Vote::For(TemplateId(5)), Reason::NeedsApproval)]
#[case::another_category(DOUBTFUL, Vote::For(TemplateId(8)), Reason::VotersDisagree)]
#[case::none_fits_a_question(DOUBTFUL, Vote::ForNone, Reason::VotersDisagree)]
#[case::retired_meanwhile(DOUBTFUL, Vote::For(TemplateId(99)), Reason::LowConfidence)]
#[case::unusable(DOUBTFUL, Vote::Unusable, Reason::UnusableAnswer)]
#[case::unpaid(DOUBTFUL, Vote::Unpaid, Reason::NoCredits)]
#[case::rules_are_silent("zarbo de la tienda", Vote::For(TemplateId(5)), Reason::NeedsApproval)]
#[case::nobody_knows("zarbo de la tienda", Vote::ForNone, Reason::LowConfidence)]
#[case::two_questions("¿cuánto cuesta y hacen envíos?", Vote::For(TemplateId(5)), Reason::NeedsApproval)]
fn a_vote_is_put_before_a_person(#[case] text: &str, #[case] vote: Vote, #[case] reason: Reason) {
    assert_eq!(held(&voted(text, Mode::Auto, vote)), Some(reason));
}

#[test]
fn what_a_model_chose_is_the_answer_that_is_proposed() {
    let Decision::Hold { choice: Some(choice), reason: Reason::NeedsApproval, again_at: None } =
        voted("zarbo de la tienda", Mode::Approve, Vote::For(TemplateId(8)))
    else {
        panic!()
    };
    assert_eq!((choice.template, choice.message.as_str()), (TemplateId(8), "Hola ana"));
    let dry = voted(DOUBTFUL, Mode::DryRun, Vote::For(TemplateId(5)));
    assert!(matches!(dry, Decision::DryRun { choice: Choice { template: TemplateId(5), .. } }), "{dry:?}");
}

fn any_vote() -> impl Strategy<Value = Vote> {
    let id = prop::sample::select(vec![5, 6, 7, 8, 99]).prop_map(|id| Vote::For(TemplateId(id)));
    let others = [Vote::Closed, Vote::Open, Vote::ForNone, Vote::Unusable, Vote::Unpaid];
    prop_oneof![id, prop::sample::select(others.to_vec())]
}

fn any_text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        Just("¿cuánto cuesta?"),
        Just("hacen envíos"),
        Just("estafa"),
        Just("hola"),
        Just("talle M?"),
        Just("@ana"),
        Just("www.x.com"),
        Just("gracias"),
        Just("quanto custa?"),
        Just("how much?"),
        Just("never arrived"),
        Just("😡"),
        Just("zarbo plimo brixo"),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| parts.join(" "))
}

proptest! {
    /// Whatever else is so, an answer is sent by itself only in mode `auto`, to a question that the settings
    /// name, from an approved template, within caps, hours and age, and 20 to 90 seconds later.
    #[test]
    fn what_is_sent_breaks_no_rule(
        text in any_text(),
        mode in prop::sample::select(Mode::ALL),
        enabled: bool, blocked: bool, dead: bool, hidden: bool, deleted: bool, opted_out: bool, answered: bool, human: bool,
        user_day in 0i64..5, post_hour in 28i64..32, account_hour in 58i64..62,
        age in 0i64..30, random: u8, threshold in 50i64..=100, vote in any_vote(),
    ) {
        let mut world = World::asking(&text, mode);
        world.settings.threshold = rust_decimal::Decimal::new(threshold, 2);
        let mut situation = world.situation();
        situation.is_enabled = enabled;
        situation.is_blocked = blocked;
        situation.is_token_dead = dead;
        situation.is_hidden = hidden;
        situation.is_deleted = deleted;
        situation.thread.opted_out = opted_out;
        situation.thread.was_answered = answered;
        situation.thread.has_human = human;
        situation.sent = Sent { user_day, post_hour, account_hour };
        situation.commented_at = NOW - Duration::hours(age);
        situation.random = random;
        situation.vote = vote;
        let decision = decide(&situation);
        if let Decision::Ask { candidates } = &decision {
            prop_assert!(vote == Vote::Open && mode != Mode::Off && !hidden && !deleted && !opted_out && !human);
            prop_assert!(!matches!(world.classified.category, Category::Complaint | Category::Spam));
            prop_assert!(!candidates.is_empty() && candidates.iter().all(|id| [5, 8].contains(&id.0)));
        }
        if let Decision::Send { choice, due_at } = decision {
            prop_assert!(mode == Mode::Auto && enabled && !blocked && !dead && !hidden && !deleted);
            prop_assert!(!opted_out && !answered && !human && age <= 24);
            let Caps { per_user_day, per_post_hour, per_account_hour } = world.settings.caps;
            prop_assert!(user_day < per_user_day && post_hour < per_post_hour && account_hour < per_account_hour);
            prop_assert!(world.settings.categories_auto.contains(&world.classified.category));
            prop_assert!(world.classified.also.is_none());
            prop_assert!(world.classified.confidence >= world.settings.threshold);
            let of = world.templates.iter().find(|template| template.id == choice.template).unwrap();
            prop_assert_eq!(of.category, world.classified.category);
            let wait = due_at - NOW;
            prop_assert!(Duration::seconds(20) <= wait && wait <= Duration::seconds(90));
        }
    }
}
