//! Numbers that are the same for the same seed: SplitMix64 (Steele, Lea, Flood 2014).

pub struct Random(pub u64);

impl Random {
    /// From 0 up to below `end`, which is above 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    /// One of `all`, which is not empty.
    pub fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let place = self.below(all.len() as u64);
        &all[usize::try_from(place).unwrap()]
    }
}
