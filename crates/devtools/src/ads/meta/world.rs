//! The ad account: its campaigns, ad sets, ads and creatives, and what each ad did on each day.

use std::collections::BTreeMap;

use domain::{money::Currency, zone::Zone};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use time::{Date, Duration, OffsetDateTime};

use crate::shops::random::Random;

/// What an ad account is made of.
#[derive(Debug, Clone)]
pub struct Seed {
    pub seed: u64,
    /// Days that its ads go back.
    pub days: u16,
    /// Each has two ad sets of two ads.
    pub campaigns: u8,
    /// Ad accounts that the person reaches: all but the first are empty.
    pub accounts: u8,
    pub currency: Currency,
    pub zone: Zone,
    pub now: OffsetDateTime,
}

/// Numbers of the first of each.
const ACCOUNT: u64 = 1_048_576;
const CAMPAIGN: u64 = 23_850_000;
const AD_SET: u64 = 23_860_000;
const AD: u64 = 23_870_000;
/// One ad of this number is deleted after half of the time.
const DELETED_EVERY: u64 = 6;

#[derive(Debug)]
pub struct Ad {
    pub id: u64,
    pub ad_set: u64,
    pub campaign: u64,
    pub state: &'static str,
}

/// What an ad did on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Figures {
    pub spend: Decimal,
    pub impressions: i64,
    pub clicks: i64,
    pub purchases: i64,
    pub revenue: Decimal,
    #[serde(skip)]
    pub views: i64,
}

impl Figures {
    fn add(&mut self, other: Self) {
        self.spend += other.spend;
        self.impressions += other.impressions;
        self.clicks += other.clicks;
        self.purchases += other.purchases;
        self.revenue += other.revenue;
        self.views += other.views;
    }
}

/// Something that happens to the ad account.
#[derive(Debug, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case", deny_unknown_fields)]
pub enum Happening {
    Attribute { ad: u64, day: Date, purchases: i64, revenue: Decimal },
    Withdraw { ad: u64, day: Date },
    Rename { campaign: u64, name: String },
    Archive { ad: u64 },
}

pub struct World {
    seed: u64,
    pub accounts: Vec<u64>,
    pub currency: Currency,
    pub zone: Zone,
    pub campaigns: BTreeMap<u64, String>,
    pub ads: BTreeMap<u64, Ad>,
    pub days: BTreeMap<Date, BTreeMap<u64, Figures>>,
    /// From this day on there is nothing of ads that were deleted.
    deleted_from: Date,
    /// The first day of which nothing is known yet.
    next: Date,
}

impl World {
    pub fn new(seed: &Seed) -> Self {
        let today = seed.zone.day_of(seed.now);
        let ads = (0..u64::from(seed.campaigns) * 4).map(|number| Ad {
            id: AD + number,
            ad_set: AD_SET + number / 2,
            campaign: CAMPAIGN + number / 4,
            state: match number % DELETED_EVERY {
                1 => "PAUSED",
                3 => "DELETED",
                _ => "ACTIVE",
            },
        });
        let campaigns =
            (0..u64::from(seed.campaigns)).map(|number| (CAMPAIGN + number, format!("Campaign {}", number + 1)));
        let mut world = Self {
            seed: seed.seed,
            accounts: (0..u64::from(seed.accounts.max(1))).map(|number| ACCOUNT + number).collect(),
            currency: seed.currency,
            zone: seed.zone.clone(),
            campaigns: campaigns.collect(),
            ads: ads.map(|ad| (ad.id, ad)).collect(),
            days: BTreeMap::new(),
            deleted_from: today - Duration::days(i64::from(seed.days / 2)),
            next: today - Duration::days(i64::from(seed.days)),
        };
        world.go_on(seed.now);
        world
    }

    /// The only one that has ads.
    pub fn account(&self) -> u64 {
        self.accounts.first().copied().unwrap_or(ACCOUNT)
    }

    /// Ads run up to the present.
    pub fn go_on(&mut self, now: OffsetDateTime) {
        let today = self.zone.day_of(now);
        while self.next <= today {
            let day = self.next;
            let of_ad = |ad: &Ad| self.runs(ad, day).then(|| (ad.id, self.did(ad, day)));
            let figures = self.ads.values().filter_map(of_ad).collect();
            self.days.insert(day, figures);
            let Some(next) = day.next_day() else { return };
            self.next = next;
        }
    }

    fn runs(&self, ad: &Ad, day: Date) -> bool {
        let mut random = Random::of_day(self.seed, (ad.id, 1), day);
        (ad.state != "DELETED" || day < self.deleted_from) && random.percent(85)
    }

    fn did(&self, ad: &Ad, day: Date) -> Figures {
        let mut random = Random::of_day(self.seed, (ad.id, 2), day);
        let purchases = random.below(4);
        Figures {
            spend: Decimal::new(100 + random.below(4_900), 2),
            impressions: 500 + random.below(4_000),
            clicks: 5 + random.below(90),
            purchases,
            revenue: (0..purchases).map(|_| Decimal::new(1_500 + random.below(9_000), 2)).sum(),
            views: random.below(400),
        }
    }

    /// Lets it happen; false where there is no such thing.
    pub fn happens(&mut self, what: Happening) -> bool {
        match what {
            Happening::Attribute { ad, day, purchases, revenue } => {
                let of_day = self.days.get_mut(&day).filter(|_| self.ads.contains_key(&ad));
                let more = Figures { purchases, revenue, ..Figures::default() };
                of_day.is_some_and(|of_day| {
                    of_day.entry(ad).or_default().add(more);
                    true
                })
            }
            Happening::Withdraw { ad, day } => {
                let figures = self.days.get_mut(&day).and_then(|of_day| of_day.get_mut(&ad));
                figures.is_some_and(|figures| {
                    (figures.purchases, figures.revenue) = (0, Decimal::ZERO);
                    true
                })
            }
            Happening::Rename { campaign, name } => {
                let called = self.campaigns.get_mut(&campaign);
                called.is_some_and(|called| {
                    *called = name;
                    true
                })
            }
            Happening::Archive { ad } => {
                let ad = self.ads.get_mut(&ad);
                ad.is_some_and(|ad| {
                    ad.state = "ARCHIVED";
                    true
                })
            }
        }
    }

    /// When the ad account was made, as the platform writes it.
    pub fn created_time(&self) -> String {
        let first = self.days.keys().next().copied().unwrap_or(self.next);
        let at = self.zone.start_of(first).to_offset(time::UtcOffset::UTC);
        format!("{}T{:02}:{:02}:{:02}+0000", at.date(), at.hour(), at.minute(), at.second())
    }

    /// What a reader must come to.
    pub fn ledger(&self) -> Value {
        let days = self.days.iter().map(|(day, ads)| {
            let mut sums = Figures::default();
            ads.values().for_each(|figures| sums.add(*figures));
            (day.to_string(), sums)
        });
        json!({ "currency": self.currency.as_str(), "days": days.collect::<BTreeMap<_, _>>() })
    }

    /// An ad with what it shows, as the platform describes it.
    pub fn ad(&self, ad: &Ad) -> Value {
        let number = ad.id - AD;
        let mut creative = json!({
            "id": (ad.id + 1_000_000).to_string(), "title": format!("Kettle {}", number / 2), "body": "Free shipping this week",
        });
        let shown = match number % 3 {
            // The same video is in the ads of an ad set.
            0 => ("video_id", json!((4_000 + number / 2).to_string())),
            1 => ("image_hash", json!(format!("{:032x}", number))),
            _ => ("object_story_spec", json!({ "link_data": { "child_attachments": [{}, {}, {}] } })),
        };
        if let Some(fields) = creative.as_object_mut() {
            fields.insert(shown.0.to_owned(), shown.1);
        }
        json!({ "id": ad.id.to_string(), "effective_status": ad.state, "creative": creative })
    }
}
