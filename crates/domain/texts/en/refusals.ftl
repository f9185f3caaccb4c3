# Why a line of a file is refused.

refused-too-long = the line is too long
refused-open-quote = a quote is never closed
refused-behind-quote = there is text behind a closing quote
refused-zero = it holds the character U+0000
refused-not-utf-8 = it is not UTF-8; try --latin1
refused-columns = it has { $found } columns instead of { $expected }
refused-with = line { $line }, of the same order, was refused
refused-above-it = lines of order { $order } above it that were refused with it: { $count }; import all of them again
refused-order-apart = the first line of its order, which has the total, is not above it or was refused
refused-unknown-sku = no product has this sku
refused-synced = { $name } is connected and has already reported { $date }; a file cannot change it
refused-amount = quantity times price is 10^12 or more

# Of a field.
refused-empty = { $field } is empty
refused-creative-without-ad = { $field } is empty, but there is a creative
refused-characters = { $field } has more than { $most } characters
refused-rounded = { $field } was rounded by a spreadsheet; take the number from the original export
refused-formula-error = { $field } is the error of a formula; take the value from the original export
refused-one-of = { $field } is none of { $allowed }
refused-currency = { $field } is no ISO 4217 code, such as USD
refused-other-currency = { $field } is not the account's, { $currency }
refused-own-currency = { $field } is the account's own; a rate says how much of that a unit of another one is worth
refused-rate = { $field } is not above 0 and at most { $most }

refused-negative = { $field } is negative
refused-between = { $field } is not between { $least } and { $most }
refused-not-a-number = { $field } is not a number
refused-not-whole = { $field } is not a whole number
refused-decimals-of-amount = { $field } has more than 6 decimals
refused-decimals-of-rate = { $field } has more than 10 decimals
refused-too-large = { $field } is 10^12 or more
refused-above = { $field } is above 10^9
refused-ambiguous = { $by ->
    [command] { $field } could be thousands or decimals; say --decimal-comma, or write another number of decimals
   *[page] { $field } could be thousands or decimals; say that the comma separates decimals, or write another number of decimals
}

refused-not-a-date = { $field } is not a date
refused-no-year = { $field } has no year of four digits
refused-not-year-first = { $field } does not start with the year
refused-no-month = { $field } has no such month (day and month the other way round?)
refused-no-day = { $field } has no such day
refused-outside = { $field } lies outside the years 1970 to 2100
refused-future = { $field } lies in the future
refused-not-a-time = { $field } has no valid time of day
refused-not-an-offset = { $field } has an unknown offset; write Z or one such as -03:00
refused-undecided = { $by ->
    [command] { $field } could be day/month or month/day; say which with --date-format dmy or mdy
   *[page] { $field } could be day/month or month/day; say which
}

# Why a whole file is.

file-empty = the file is empty; its first line must name the columns
file-no-header = the first line must name the columns, but { $why }
file-utf-16 = the file is UTF-16; save it as UTF-8
file-packed = it is a ZIP or Excel file; save it as CSV
file-damaged = the file is damaged or incomplete; pack it again, or upload it unpacked
file-bare-returns = the lines of the file end with CR alone; save it with LF or CR LF
file-too-large = unpacked, the file is larger than { $most } GB; split it, with all lines of an order in one part
file-refused-orders = more than { $most } orders have a line that cannot be taken; correct the file, or say how it is to be read
file-refused-lines = more than { $most } MB of its lines cannot be taken; correct the file, or say how it is to be read
file-columns = the file has { $found } columns; it may have { $most }
file-no-column = there is no column `{ $column }` (columns: { $columns })
file-unknown-field = --map knows no field `{ $name }` (fields: { $fields })
file-missing-columns = { $by ->
    [command] no column for { $missing }; the file has the columns { $columns }; name them with --map { $first }=COLUMN
   *[page] no column for { $missing }; the file has the columns { $columns }
}
file-undecided = { $by ->
    [command] the dates can be read as day/month and as month/day; say which with --date-format dmy or mdy
   *[page] the dates can be read as day/month and as month/day; say which
}
