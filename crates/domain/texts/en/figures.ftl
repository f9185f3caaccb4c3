# How figures are written. Every figure $x of a template is written by these before it is filled in; $x_n is its number, by
# which the form of a word is chosen.

money = { $number } { $currency }
percent = { $number }{ $space }%
points = { $number_n ->
    [one] { $number } percentage point
   *[other] { $number } percentage points
}
list = { $others } and { $last }

weekday = { $weekday_n ->
    [1] Monday
    [2] Tuesday
    [3] Wednesday
    [4] Thursday
    [5] Friday
    [6] Saturday
   *[7] Sunday
}
month = { $month_n ->
    [1] January
    [2] February
    [3] March
    [4] April
    [5] May
    [6] June
    [7] July
    [8] August
    [9] September
    [10] October
    [11] November
   *[12] December
}
# $order is what comes first, the day or the month.
day = { $order ->
    [month] { weekday }, { month } { $date }{ $with_year ->
        [yes] , { $year }
       *[no] {""}
    }
   *[day] { weekday } { $date } { month }{ $with_year ->
        [yes] {" "}{ $year }
       *[no] {""}
    }
}
day-on = on { day }

# Platforms of shops and ads, by the names that they have where the language is spoken; other names stay as they are.
platform = { $platform ->
    [shopify] Shopify
    [tiendanube] Tiendanube
    [mercadolibre] Mercado Libre
    [google] Google
    [meta] Meta
    [instagram] Instagram
    [facebook] Facebook
    [tiktok] TikTok
    [google_ads] Google Ads
    [meta_ads] Meta Ads
    [mercadolibre_ads] Mercado Ads
    [tiktok_ads] TikTok Ads
   *[other] { $platform }
}
on-platform = { $platform ->
   *[other] on { platform }
}
