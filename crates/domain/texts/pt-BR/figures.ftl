# How figures are written. Every figure $x of a template is written by these before it is filled in; $x_n is its number, by
# which the form of a word is chosen.

money = { $number } { $currency }
percent = { $number }{ $space }%
points = { $number_n ->
    [one] { $number } ponto percentual
   *[other] { $number } pontos percentuais
}
list = { $others } e { $last }

weekday = { $weekday_n ->
    [1] segunda-feira
    [2] terça-feira
    [3] quarta-feira
    [4] quinta-feira
    [5] sexta-feira
    [6] sábado
   *[7] domingo
}
month = { $month_n ->
    [1] janeiro
    [2] fevereiro
    [3] março
    [4] abril
    [5] maio
    [6] junho
    [7] julho
    [8] agosto
    [9] setembro
    [10] outubro
    [11] novembro
   *[12] dezembro
}
day = { weekday }, { $date } de { month }{ $with_year ->
    [yes] {" "}de { $year }
   *[no] {""}
}
# The days of the week from Monday to Friday are feminine.
day-on = { $weekday_n ->
    [6] no
    [7] no
   *[other] na
} { day }

# Platforms of shops and ads, by the names that they have where the language is spoken; other names stay as they are.
platform = { $platform ->
    [shopify] Shopify
    [tiendanube] Nuvemshop
    [mercadolibre] Mercado Livre
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
    [shopify] na { platform }
    [tiendanube] na { platform }
    [mercadolibre] no { platform }
    [google] no { platform }
    [meta] na { platform }
    [tiktok] no { platform }
    [google_ads] no { platform }
    [meta_ads] no { platform }
    [mercadolibre_ads] no { platform }
    [tiktok_ads] no { platform }
    [instagram] no { platform }
    [facebook] no { platform }
   *[other] em { platform }
}
