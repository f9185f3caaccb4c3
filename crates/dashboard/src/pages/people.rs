//! Who has access to the shop: members, invitations, roles.

use actix_web::{
    HttpRequest, HttpResponse,
    web::{Data, Form, ReqData},
};
use app::second_factor::by;
use domain::{
    PersonId,
    audit::Action,
    mail::{Mail, Outgoing},
    people::{EmailAddress, Invited, Member, MemberError, Role},
    throttle::{Counted, Counter, Verdict},
};
use serde::Deserialize;
use serde_json::json;

use super::{
    entry, query, see,
    settings::{self, Tab},
    writer,
};
use crate::{
    edge::ClientAddress,
    error::PageError,
    session::Viewer,
    state::State,
    text::Writer,
    views::{
        ask::{self, Field, Kind, Said},
        settings::{Part, Row},
    },
};

const PATH: &str = Tab::People.address();

fn role_field(writer: &Writer, value: Role) -> Field {
    let choice = |role: &Role| (role.as_str().to_owned(), writer.say(&format!("role-{role}")));
    let choices = Role::ALL.iter().map(choice).collect();
    let field = entry::field("role", writer.say("role"), Kind::Select(choices));
    Field { value: value.as_str().to_owned(), ..field }
}

/// `is_only_owner`: nobody else could let them in again, so they stay as they are.
fn member(writer: &Writer, member: &Member, is_only_owner: bool) -> Row {
    let Member { person, role, since } = member;
    let form = |fields, words: &str, is_danger| ask::Form {
        action: format!("{PATH}/{}", person.id),
        is_danger,
        ..entry::form(fields, writer.say(words))
    };
    let about = writer
        .message("member-about")
        .text("role", writer.say(&format!("role-{role}")))
        .text("email", person.email.as_str())
        .text("since", writer.moment(*since));
    Row {
        name: person.name.clone(),
        about: about.say().into(),
        forms: if is_only_owner {
            Vec::new()
        } else {
            vec![form(vec![role_field(writer, *role)], "role-change", false), form(Vec::new(), "member-remove", true)]
        },
    }
}

fn invited(writer: &Writer, invited: &Invited) -> Row {
    let role = writer.say(&format!("role-{}", invited.role));
    let about = match invited.expires_at {
        Some(until) => writer.message("invited-about").text("until", writer.moment(until)),
        None => writer.message("invited-waiting"),
    };
    let about = about.text("role", role);
    let email = invited.email.as_str().to_owned();
    let form = ask::Form {
        action: format!("{PATH}/withdraw"),
        hidden: vec![("email", email.clone())],
        is_danger: true,
        ..entry::form(Vec::new(), writer.say("invitation-withdraw"))
    };
    Row { name: email, about: about.say().into(), forms: vec![form] }
}

fn invite(writer: &Writer, has_mail: bool) -> Part {
    let mut part = Part::new("h-invite", writer.say("invite"), Vec::new());
    if has_mail {
        let email = entry::field("email", writer.say("email"), Kind::Line("email", "off"));
        let mut form = entry::form(vec![email, role_field(writer, Role::Viewer)], writer.say("invite-go"));
        form.action = PATH.to_owned();
        part.paragraphs.push(writer.say("roles-what"));
        part.forms.push(form);
    } else {
        part.paragraphs.push(writer.say("no-mail-invite"));
    }
    part
}

async fn page(
    request: &HttpRequest,
    viewer: &Viewer,
    state: &State,
    said: impl FnOnce(&Writer) -> Option<Said>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    let writer = writer(Some(viewer), request.headers(), now);
    let user = &viewer.session().account.user_id;
    let mut members = Part::new("h-members", writer.say("members"), Vec::new());
    let found = state.people.members(user).await?;
    let owners = found.iter().filter(|member| member.role == Role::Owner).count();
    let is_only_owner = |one: &Member| one.role == Role::Owner && owners == 1;
    members.rows = found.iter().map(|one| member(&writer, one, is_only_owner(one))).collect();
    let mut parts = vec![members, invite(&writer, state.settings.has_mail)];
    let open = state.people.invited(user, now).await?;
    if !open.is_empty() {
        let mut part = Part::new("h-invited", writer.say("invited"), Vec::new());
        part.rows = open.iter().map(|one| invited(&writer, one)).collect();
        parts.push(part);
    }
    settings::page(viewer, state, &writer, Tab::People, said(&writer), parts).await
}

pub async fn get(request: HttpRequest, viewer: Viewer, state: Data<State>) -> Result<HttpResponse, PageError> {
    viewer.confirmed((state.clock)(), PATH)?;
    let is_sent = query::one(&request, "sent")?.unwrap_or(false);
    page(&request, &viewer, &state, |writer| if is_sent { settings::done(writer, "invite-sent") } else { None }).await
}

#[derive(Deserialize)]
pub struct Invitation {
    email: String,
    role: Role,
}

/// Invites the owner of an address.
pub async fn post(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Invitation>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let Invitation { email, role } = fields.into_inner();
    let Some(to) = email.parse::<EmailAddress>().ok().filter(|_| state.settings.has_mail) else {
        let fault = if state.settings.has_mail { "email-wrong" } else { "no-mail-invite" };
        return page(&request, &viewer, &state, |writer| settings::fault(writer.say(fault))).await;
    };
    let session = viewer.session();
    let user = session.account.user_id.as_str();
    let counters = [Counter::new(Counted::InvitationsTo, to.as_str()), Counter::new(Counted::Invitations, user)];
    if state.log_in.throttles.count(&counters, now).await?.verdict != Verdict::Go {
        return page(&request, &viewer, &state, |writer| settings::fault(writer.say("mail-wait"))).await;
    }
    let mut note = by(session, Action::MemberInvited, from.0.to_string());
    (note.target, note.after) = (Some(to.as_str().to_owned()), Some(json!({ "role": role })));
    let mail = Mail::Invitation {
        user: session.account.user_id.clone(),
        role,
        by: session.person.name.clone(),
        shop: session.account.name.clone(),
    };
    state.mails.put(Outgoing { to, language: viewer.locale().language, mail }, Some(note), now).await?;
    Ok(see(&format!("{PATH}?sent=true")))
}

#[derive(Deserialize)]
pub struct Withdrawal {
    email: String,
}

/// Withdraws an invitation.
pub async fn withdraw(
    viewer: Viewer,
    fields: Form<Withdrawal>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let email: EmailAddress = fields.email.parse().map_err(|_| PageError::Invalid("email"))?;
    let session = viewer.session();
    let mut note = by(session, Action::InvitationWithdrawn, from.0.to_string());
    note.target = Some(email.as_str().to_owned());
    let is_withdrawn = state.people.withdraw(&session.account.user_id, &email, note, now).await?;
    if is_withdrawn { Ok(see(PATH)) } else { Err(PageError::NotFound) }
}

#[derive(Deserialize)]
pub struct Change {
    /// None: the membership ends.
    #[serde(default)]
    role: Option<Role>,
}

/// Changes a role, or ends a membership.
pub async fn change(
    request: HttpRequest,
    viewer: Viewer,
    fields: Form<Change>,
    from: ReqData<ClientAddress>,
    state: Data<State>,
) -> Result<HttpResponse, PageError> {
    let now = (state.clock)();
    viewer.confirmed(now, PATH)?;
    let (person, role) = (PersonId(query::id(&request)?), fields.role);
    let session = viewer.session();
    let user = &session.account.user_id;
    let members = state.people.members(user).await?;
    let member = members.iter().find(|member| member.person.id == person).ok_or(PageError::NotFound)?;
    let action = if role.is_some() { Action::RoleChanged } else { Action::MemberRemoved };
    let mut note = by(session, action, from.0.to_string());
    note.target = Some(member.person.name.clone());
    (note.before, note.after) = (Some(json!({ "role": member.role })), role.map(|role| json!({ "role": role })));
    match state.people.set_role(user, person, role, note, now).await {
        Ok(()) => Ok(see(PATH)),
        Err(MemberError::LastOwner) => {
            page(&request, &viewer, &state, |writer| settings::fault(writer.say("last-owner"))).await
        }
        Err(MemberError::NotFound) => Err(PageError::NotFound),
        Err(MemberError::Store(error)) => Err(error.into()),
    }
}
