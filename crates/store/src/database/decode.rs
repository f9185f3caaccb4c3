//! Fast decoding of columns: the reads that answer most requests decode hundreds of values each
//! (docs/adr/0013-own-formatting.md).

use std::str::FromStr;

use diesel::{
    Queryable,
    deserialize::{self, FromSql},
    pg::{Pg, PgValue},
    row::Row,
    sql_types::{Numeric, Text},
};
use rust_decimal::Decimal;

/// Groups of four digits that are read at once; longer numbers take the general way.
const GROUPS: usize = 7;
const NEGATIVE: u16 = 0x4000;

/// A `numeric`. Becomes the same [`Decimal`] as by the general way, without a list of its digits in between.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Amount(Decimal);

impl From<Amount> for Decimal {
    fn from(amount: Amount) -> Self {
        amount.0
    }
}

impl FromSql<Numeric, Pg> for Amount {
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        match read_short(value.as_bytes()) {
            Some(number) => Ok(Self(number)),
            None => <Decimal as FromSql<Numeric, Pg>>::from_sql(value).map(Self),
        }
    }
}

impl Queryable<Numeric, Pg> for Amount {
    type Row = Self;

    fn build(row: Self) -> deserialize::Result<Self> {
        Ok(row)
    }
}

/// The number that the server sent: how many groups of four digits, the place of the first group (units of 10,000), the
/// sign, the decimals to show, and the groups. None for what is longer, no number, or out of range.
fn read_short(bytes: &[u8]) -> Option<Decimal> {
    let mut words = bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
    let groups = usize::from(words.next()?);
    let weight = i32::from(words.next()?.cast_signed());
    let (sign, decimals) = (words.next()?, i32::from(words.next()?));
    if groups > GROUPS || (sign != 0 && sign != NEGATIVE) {
        return None;
    }
    let mut mantissa: i128 = 0;
    for _ in 0..groups {
        mantissa = mantissa * 10_000 + i128::from(words.next()?);
    }
    // Decimals that the groups reach to; the last group may reach further than there is anything to show.
    let reach = (i32::try_from(groups).ok()? - 1 - weight) * 4;
    let shift = 10_i128.checked_pow(reach.abs_diff(decimals))?;
    let mantissa = if reach > decimals { mantissa / shift } else { mantissa.checked_mul(shift)? };
    let mantissa = if sign == NEGATIVE { -mantissa } else { mantissa };
    Decimal::try_from_i128_with_scale(mantissa, u32::try_from(decimals).ok()?).ok()
}

/// A text with a fixed set of values. The column's CHECK keeps reading it from failing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<T>(pub T);

impl<T> FromSql<Text, Pg> for Named<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    fn from_sql(value: PgValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(std::str::from_utf8(value.as_bytes())?.parse()?))
    }
}

impl<T> Queryable<Text, Pg> for Named<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    type Row = Self;

    fn build(row: Self) -> deserialize::Result<Self> {
        Ok(row)
    }
}

/// The columns of a row, one after the other.
pub(crate) struct InOrder<'r, R> {
    row: &'r R,
    at: usize,
}

impl<'r, R> InOrder<'r, R> {
    pub(crate) const fn of(row: &'r R) -> Self {
        Self { row, at: 0 }
    }

    /// The next one, which is an `ST` in SQL.
    pub(crate) fn next<'a, ST, T>(&mut self) -> deserialize::Result<T>
    where
        R: Row<'a, Pg>,
        T: FromSql<ST, Pg>,
    {
        let at = self.at;
        self.at += 1;
        self.row.get_value(at)
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// As the server writes it: groups, weight, sign, decimals.
    fn sent(groups: &[u16], weight: i16, sign: u16, decimals: u16) -> Vec<u8> {
        let count = u16::try_from(groups.len()).unwrap();
        let head = [count, weight.cast_unsigned(), sign, decimals];
        head.iter().chain(groups).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[rstest]
    #[case::zero(&[], 0, 0, 0, "0")]
    #[case::zero_with_decimals(&[], 0, 0, 6, "0.000000")]
    #[case::amount(&[1234, 5000], 0, 0, 6, "1234.500000")]
    #[case::fewer_decimals_than_the_group(&[12, 3400], 0, 0, 2, "12.34")]
    #[case::trailing_groups_are_left_out(&[5], 2, 0, 0, "500000000")]
    #[case::negative(&[1, 2500], 0, NEGATIVE, 2, "-1.25")]
    #[case::below_one(&[5], -2, 0, 8, "0.00000005")]
    #[case::large(&[123, 4567, 8901, 2345, 6789], 3, 0, 4, "123456789012345.6789")]
    fn numbers(
        #[case] groups: &[u16],
        #[case] weight: i16,
        #[case] sign: u16,
        #[case] decimals: u16,
        #[case] expected: &str,
    ) {
        let number = read_short(&sent(groups, weight, sign, decimals)).unwrap();
        assert_eq!(number.to_string(), expected);
    }

    #[rstest]
    #[case::not_a_number(sent(&[], 0, 0xC000, 0))]
    #[case::long(sent(&[1; 8], 7, 0, 0))]
    #[case::out_of_range(sent(&[1], 100, 0, 0))]
    #[case::cut_off(sent(&[1, 2], 0, 0, 0)[..10].to_vec())]
    #[case::empty(Vec::new())]
    fn others_take_the_general_way(#[case] bytes: Vec<u8>) {
        assert_eq!(read_short(&bytes), None);
    }
}
