# How figures are written. Every figure $x of a template is written by these before it is filled in; $x_n is its number, by
# which the form of a word is chosen.

money = { $number } { $currency }
percent = { $number }{ $space }%
points = { $number_n ->
    [one] { $number } punto porcentual
   *[other] { $number } puntos porcentuales
}
list = { $others } y { $last }

weekday = { $weekday_n ->
    [1] lunes
    [2] martes
    [3] miércoles
    [4] jueves
    [5] viernes
    [6] sábado
   *[7] domingo
}
month = { $month_n ->
    [1] enero
    [2] febrero
    [3] marzo
    [4] abril
    [5] mayo
    [6] junio
    [7] julio
    [8] agosto
    [9] septiembre
    [10] octubre
    [11] noviembre
   *[12] diciembre
}
day = { weekday } { $date } de { month }{ $with_year ->
    [yes] {" "}de { $year }
   *[no] {""}
}
day-on = el { day }

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
   *[other] en { platform }
}
