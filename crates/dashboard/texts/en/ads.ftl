ads = Ads
creatives = Creatives
ads-account = Ad accounts
ads-campaign = Campaigns
ads-ad_set = Ad sets
ads-ad = Ads
ads-account-title = Ad accounts, by what was spent
ads-campaign-title = Campaigns, by what was spent
ads-ad_set-title = Ad sets, by what was spent
ads-ad-title = Ads, by what was spent
ads-totals-title = All together, beside what the shop itself took
ads-none = Nothing is known of advertising on these days. Import a file of ad spend, or connect a platform.
ads-rows-none = Nothing at this level ran on these days. Choose other days or another level.
ads-spend = Spend
ads-clicks = Clicks
ads-purchases = Purchases, by the platform
ads-revenue = Revenue, by the platform
ads-cpa = Spend per purchase
ads-roas = Revenue per spend, by the platform
ads-own-revenue = Net revenue of the shop
ads-mer = Net revenue of the shop per spend
ads-tacos = Spend per net revenue of the shop
ads-about = { $platform } · { $status }
ads-on-meta = Meta
ads-on-google = Google
ads-on-mercadolibre = Mercado Libre
ads-on-manual = Other platform
ads-active = active
ads-paused = paused
ads-archived = archived
ads-lack-rates = Some spend is in a currency without a rate of exchange: it is in no sum. Import the rates.
ads-other-clock = Some ad accounts are in another time zone than the shop: a sale near midnight may be counted a day earlier or later.
how-ads = Sums of what platforms and files tell. Purchases and revenue are the platform’s claim, by its own rules; a dash is what it does not tell. Every ratio is one of sums; spend per purchase and the platform’s revenue per spend count only the spend whose result is told.
how-ads-own = The shop’s own net revenue is of all orders of these days, whatever brought them.
creatives-title = Creatives of each campaign, winners first
creatives-caveat = The platform chooses who sees which ad, so this is no experiment: a winner did better where it was shown.
creatives-none = No creative with this state ran on these days.
creatives-not-yet = Nothing was compared yet. It is done every night.
creatives-all = All
creative = Creative
creative-verdict = State
creative-lift = Better by
creative-evidence = Evidence (10 decides)
creative-winner = Winner
creative-leading = Leading
creative-testing = No clear difference
creative-insufficient_data = Not enough data
creative-faded = Was a winner
creative-losing = Loses
creative-video = Video
creative-image = Image
creative-carousel = Carousel
creative-text = Text
creative-unknown = Unknown format
needs = missing: { $what }
needs-purchases = { $purchases_n ->
    [one] { $purchases } purchase
   *[other] { $purchases } purchases
}
needs-days = { $days_n ->
    [one] { $days } day
   *[other] { $days } days
}
needs-spend = { $amount } of spend
needs-others = purchases of other creatives of its ad set on the same days
how-creatives = Each creative is compared with the others of its campaign, within ad sets and days, by what was bought for the spend. The evidence holds however often it is looked at. The newest three days are left out, as platforms still attribute purchases to them.
how-creatives-lift = What is shown is shrunk by what is known of such differences, with a range that is right 19 times out of 20: winners look better than they are.
how-creatives-needs = It takes 10 purchases of a creative, 100 of its campaign, 3 days, and as much spend as half of the campaign’s creatives have. More clicks alone make a creative lead, and no winner.
