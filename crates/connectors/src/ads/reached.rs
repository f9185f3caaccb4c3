//! The ad accounts that who agreed reaches, of which one is connected.

use domain::shops::CompleteError;

use crate::shops::wire::clean;

/// Ad accounts that are named where one has to be chosen.
const NAMED: usize = 5;

/// An ad account.
#[derive(Debug, Clone)]
pub struct Reached {
    pub number: String,
    pub name: Option<String>,
}

impl Reached {
    fn shown(&self) -> String {
        match self.name.as_deref().and_then(|name| clean(name, 40)) {
            Some(name) => format!("{} ({name})", self.number),
            None => self.number.clone(),
        }
    }
}

/// The ad account that was asked for, or the only one.
pub fn chosen(reached: &[Reached], asked: Option<&str>) -> Result<String, CompleteError> {
    match (asked, reached) {
        (Some(asked), reached) if reached.iter().any(|account| account.number == asked) => Ok(asked.to_owned()),
        (Some(_), _) => Err(CompleteError::Denied("who agreed does not reach that ad account".to_owned())),
        (None, [only]) => Ok(only.number.clone()),
        (None, []) => Err(CompleteError::Denied("who agreed reaches no ad account".to_owned())),
        (None, several) => {
            Err(CompleteError::SeveralAccounts(several.iter().take(NAMED).map(Reached::shown).collect()))
        }
    }
}
