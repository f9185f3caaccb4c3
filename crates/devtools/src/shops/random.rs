//! Random numbers that are the same for the same seed: SplitMix64 (Steele, Lea, Flood 2014).

use time::Date;

pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// For the day of something: other numbers for another `part` of it.
    pub fn of_day(seed: u64, (of, part): (u64, u64), day: Date) -> Self {
        let day = u64::try_from(day.to_julian_day()).unwrap_or_default();
        let mut random = Self::new(seed ^ (of << 32) ^ (day << 8) ^ part);
        random.below(2);
        random
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below `end`, which is above 0.
    pub fn below(&mut self, end: i64) -> i64 {
        i64::try_from(self.next() % end.unsigned_abs().max(1)).unwrap_or(0)
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, chance: i64) -> bool {
        self.below(100) < chance
    }
}
