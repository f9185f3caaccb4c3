//! The ad account: its campaigns, ad groups and ads, and what each ad, or a campaign without ads, did on each day.

use std::collections::BTreeMap;

use domain::{money::Currency, zone::Zone};
use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Value, json};
use time::{Date, Duration, OffsetDateTime};

use crate::shops::random::Random;

/// Rows of a page.
pub const PAGE: usize = 10_000;
/// The manager account.
pub const MANAGER: u64 = 9_998_887_777;
/// Numbers of the first of each.
const ACCOUNT: u64 = 1_234_567_890;
const CAMPAIGN: u64 = 20_850_000;
const AD_GROUP: u64 = 60_860_000;
const AD: u64 = 70_870_000;
/// One campaign of this number is of Performance Max.
const MAX_EVERY: u64 = 3;
/// One ad of this number is removed after half of the time.
const REMOVED_EVERY: u64 = 6;
/// On one day of this number a campaign does what none of its ads explains.
const REST_EVERY: i32 = 7;

/// What an ad account is made of.
#[derive(Debug, Clone)]
pub struct Seed {
    pub seed: u64,
    /// Days that its ads go back.
    pub days: u16,
    /// Each has two ad groups of two ads, but every third one is of Performance Max.
    pub campaigns: u8,
    /// Ad accounts that the person reaches: all but the first are empty.
    pub accounts: u8,
    /// Whether they are reached by way of a manager account alone.
    pub managed: bool,
    /// Rows of a page.
    pub page_rows: usize,
    pub currency: Currency,
    pub zone: Zone,
    pub now: OffsetDateTime,
}

pub struct Campaign {
    pub id: u64,
    pub name: String,
    pub is_max: bool,
}

pub struct Ad {
    pub id: u64,
    pub ad_group: u64,
    pub campaign: u64,
    pub state: &'static str,
}

/// What an ad, or a campaign beside its ads, did on a day. Parts of purchases are fifths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    pub micros: i64,
    pub impressions: i64,
    pub clicks: i64,
    pub purchases: Decimal,
    pub revenue: Decimal,
}

impl Figures {
    pub fn add(&mut self, other: &Self) {
        self.micros += other.micros;
        self.impressions += other.impressions;
        self.clicks += other.clicks;
        self.purchases += other.purchases;
        self.revenue += other.revenue;
    }
}

/// Something that happens to the ad account.
#[derive(Debug, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Happening {
    Attribute { of: u64, day: Date, purchases: Decimal, revenue: Decimal },
    Credit { of: u64, day: Date, spend: Decimal },
    Rename { campaign: u64, name: String },
    Remove { ad: u64 },
}

pub struct World {
    seed: u64,
    pub accounts: Vec<u64>,
    pub is_managed: bool,
    pub page_rows: usize,
    pub currency: Currency,
    pub zone: Zone,
    pub campaigns: BTreeMap<u64, Campaign>,
    pub ads: BTreeMap<u64, Ad>,
    /// By day, and by the number of an ad, or of a campaign for what none of its ads explains.
    pub days: BTreeMap<Date, BTreeMap<u64, Figures>>,
    /// From this day on there is nothing of ads that were removed.
    removed_from: Date,
    /// The first day of which nothing is known yet.
    next: Date,
}

impl World {
    pub fn new(seed: &Seed) -> Self {
        let today = seed.zone.day_of(seed.now);
        let campaigns = (0..u64::from(seed.campaigns)).map(|number| Campaign {
            id: CAMPAIGN + number,
            name: format!("Campaign {}", number + 1),
            is_max: number % MAX_EVERY == MAX_EVERY - 1,
        });
        let ads = (0..u64::from(seed.campaigns) * 4).filter(|number| number / 4 % MAX_EVERY != MAX_EVERY - 1);
        let ads = ads.map(|number| Ad {
            id: AD + number,
            ad_group: AD_GROUP + number / 2,
            campaign: CAMPAIGN + number / 4,
            state: match number % REMOVED_EVERY {
                1 => "PAUSED",
                3 => "REMOVED",
                _ => "ENABLED",
            },
        });
        let mut world = Self {
            seed: seed.seed,
            accounts: (0..u64::from(seed.accounts.max(1))).map(|number| ACCOUNT + number).collect(),
            is_managed: seed.managed,
            page_rows: seed.page_rows.max(1),
            currency: seed.currency,
            zone: seed.zone.clone(),
            campaigns: campaigns.map(|campaign| (campaign.id, campaign)).collect(),
            ads: ads.map(|ad| (ad.id, ad)).collect(),
            days: BTreeMap::new(),
            removed_from: today - Duration::days(i64::from(seed.days / 2)),
            next: today - Duration::days(i64::from(seed.days)),
        };
        world.go_on(seed.now);
        world
    }

    /// Whether it is the only one that has ads.
    pub fn is_own(&self, account: u64) -> bool {
        self.accounts.first() == Some(&account)
    }

    /// Ads run up to the present.
    pub fn go_on(&mut self, now: OffsetDateTime) {
        let today = self.zone.day_of(now);
        while self.next <= today {
            let day = self.next;
            let ads = self.ads.values().filter(|ad| ad.state != "REMOVED" || day < self.removed_from).map(|ad| ad.id);
            let campaigns = self.campaigns.values().filter(|campaign| {
                campaign.is_max || (day.to_julian_day() + i32::from(campaign.id % 2 == 0)) % REST_EVERY == 0
            });
            let doing = ads
                .chain(campaigns.map(|campaign| campaign.id))
                .filter(|of| Random::of_day(self.seed, (*of, 1), day).percent(85));
            let figures = doing.map(|of| (of, self.did(of, day))).collect();
            self.days.insert(day, figures);
            let Some(next) = day.next_day() else { return };
            self.next = next;
        }
    }

    fn did(&self, of: u64, day: Date) -> Figures {
        let mut random = Random::of_day(self.seed, (of, 2), day);
        let fifths = random.below(12);
        Figures {
            // Costs have more digits than cents.
            micros: 1_000_000 + random.below(49_000_000),
            impressions: 500 + random.below(4_000),
            clicks: 5 + random.below(90),
            purchases: Decimal::new(fifths * 2, 1),
            revenue: (0..fifths).map(|_| Decimal::new(300 + random.below(1_800), 2)).sum(),
        }
    }

    /// Lets it happen; false where there is no such thing.
    pub fn happens(&mut self, what: Happening) -> bool {
        match what {
            Happening::Attribute { of, day, purchases, revenue } => {
                let is_known = self.ads.contains_key(&of) || self.campaigns.contains_key(&of);
                let of_day = self.days.get_mut(&day).filter(|_| is_known);
                let more = Figures { purchases, revenue, ..Figures::default() };
                of_day.map(|of_day| of_day.entry(of).or_default().add(&more)).is_some()
            }
            Happening::Credit { of, day, spend } => {
                let figures = self.days.get_mut(&day).and_then(|of_day| of_day.get_mut(&of));
                let micros = i64::try_from(spend * Decimal::from(1_000_000)).unwrap_or_default();
                figures.map(|figures| figures.micros = (figures.micros - micros).max(0)).is_some()
            }
            Happening::Rename { campaign, name } => {
                self.campaigns.get_mut(&campaign).map(|campaign| campaign.name = name).is_some()
            }
            Happening::Remove { ad } => self.ads.get_mut(&ad).map(|ad| ad.state = "REMOVED").is_some(),
        }
    }

    /// The campaign that something is of.
    fn campaign_of(&self, of: u64) -> u64 {
        self.ads.get(&of).map_or(of, |ad| ad.campaign)
    }

    /// What campaigns did on a day, with their ads.
    pub fn campaigns_on(&self, day: &BTreeMap<u64, Figures>) -> BTreeMap<u64, Figures> {
        let mut sums = BTreeMap::<u64, Figures>::new();
        for (of, figures) in day {
            sums.entry(self.campaign_of(*of)).or_default().add(figures);
        }
        sums
    }

    /// What a reader must come to.
    pub fn ledger(&self) -> Value {
        let days = self.days.iter().map(|(day, did)| {
            let campaigns = self.campaigns_on(did);
            let mut sums = Figures::default();
            campaigns.values().for_each(|figures| sums.add(figures));
            let told = json!({
                "spend": Decimal::new(sums.micros, 6), "impressions": sums.impressions, "clicks": sums.clicks,
                "purchases": i64::try_from(sums.purchases.round()).unwrap_or_default(), "revenue": sums.revenue,
            });
            (day.to_string(), told)
        });
        json!({ "currency": self.currency.as_str(), "days": days.collect::<BTreeMap<_, _>>() })
    }
}
