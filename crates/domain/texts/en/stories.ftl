# One event, told once: what was seen on the day that departed most, what it was worth, what was normal, and whether it is over.

insight-story =
    .title = { $what ->
        [closed_day] Nothing was sold { $day_on }
        [platform] { $direction ->
            [down] { platform } sold far less than normal { $day_on }
           *[up] { platform } sold far more than normal { $day_on }
        }
        [country] { $direction ->
            [down] Far fewer orders { $part_from } than normal { $day_on }
           *[up] Far more orders { $part_from } than normal { $day_on }
        }
        [product] { $direction ->
            [down] { $part } sold far less than normal { $day_on }
           *[up] { $part } sold far more than normal { $day_on }
        }
        [stock_out] { $state ->
            [over] { $part } was out of stock { $day_on }
           *[other] { $part } is out of stock
        }
        [campaign] { $direction ->
            [down] Far less spent on the campaign { $part } than normal { $day_on }
           *[up] Far more spent on the campaign { $part } than normal { $day_on }
        }
        [ads] { $direction ->
            [down] Far less spent on ads than normal { $day_on }
           *[up] Far more spent on ads than normal { $day_on }
        }
        [paid_campaign] More ads and far more sales than normal { $day_on }
        [paid_ads] More ads and far more sales than normal { $day_on }
        [price] { $direction ->
            [down] Prices far below normal { $day_on }
           *[up] Prices far above normal { $day_on }
        }
        [bulk_order] { $direction ->
            [down] Orders far smaller than normal { $day_on }
           *[up] Orders far larger than normal { $day_on }
        }
        [traffic] { $direction ->
            [down] Far fewer visits than normal { $day_on }
           *[up] Far more visits than normal { $day_on }
        }
        [conversion] { $direction ->
            [down] Far fewer visitors bought than normal { $day_on }
           *[up] Far more visitors bought than normal { $day_on }
        }
        [tracking] { $direction ->
            [down] Visits went uncounted { $day_on }
           *[up] Visits were counted too often { $day_on }
        }
        [refunded_product] { $direction ->
            [down] Far less of { $part } was refunded than normal { $day_on }
           *[up] Far more of { $part } was refunded than normal { $day_on }
        }
        [refund] { $direction ->
            [down] Far less refunded than normal { $day_on }
           *[up] Far more refunded than normal { $day_on }
        }
        [cost] { $direction ->
            [down] A unit cost far less than normal { $day_on }
           *[up] A unit cost far more than normal { $day_on }
        }
        [expense] { $direction ->
            [down] Expenses far below normal { $day_on }
           *[up] Expenses far above normal { $day_on }
        }
        [profit] { $direction ->
            [down] Profit far below normal { $day_on }
           *[up] Profit far above normal { $day_on }
        }
       *[sales] { $direction ->
            [down] Sales far below normal { $day_on }
           *[up] Sales far above normal { $day_on }
        }
    }
    .body = { $what ->
        [closed_day] Nothing was sold { $day_on }; { $expected_n ->
                [one] about { $expected } order would be normal.
               *[other] about { $expected } orders would be normal.
            }
        [platform] { $observed_n ->
            [0] { platform } sold nothing { $day_on }; { $expected_n ->
                [one] about { $expected } order would be normal.
               *[other] about { $expected } orders would be normal.
            }
            [one] { platform } had { $observed } order { $day_on }; about { $expected } would be normal.
           *[other] { platform } had { $observed } orders { $day_on }; about { $expected } would be normal.
        }
        [country] { $observed_n ->
            [0] No order came { $part_from } { $day_on }; about { $expected } would be normal.
            [one] { $observed } order came { $part_from } { $day_on }; about { $expected } would be normal.
           *[other] { $observed } orders came { $part_from } { $day_on }; about { $expected } would be normal.
        }
        [product] { $observed_n ->
            [0] { $part } sold nothing { $day_on }; about { $expected } would be normal.
           *[other] { $part } sold for { $observed } { $day_on }; about { $expected } would be normal.
        }
        [stock_out] { $observed_n ->
            [0] { $part } was out of stock and sold nothing { $day_on }; about { $expected } would be normal.
           *[other] { $part } was out of stock and sold for { $observed } { $day_on }; about { $expected } would be normal.
        }
        [campaign] { $observed_n ->
            [0] You spent nothing on the campaign { $part } { $day_on }; about { $expected } would be normal.
           *[other] You spent { $observed } on the campaign { $part } { $day_on }; about { $expected } would be normal.
        }
        [ads] { $observed_n ->
            [0] You spent nothing on ads { $day_on }; about { $expected } would be normal.
           *[other] You spent { $observed } on ads { $day_on }; about { $expected } would be normal.
        }
        [paid_campaign] You sold { $observed } { $day_on }; about { $expected } would be normal. More than normal was spent on the campaign { $part }, too.
        [paid_ads] You sold { $observed } { $day_on }; about { $expected } would be normal. More than normal was spent on ads, too.
        [price] The average unit sold for { $observed } { $day_on }; about { $expected } would be normal.
        [bulk_order] You sold { $observed } { $day_on }; about { $expected } would be normal. A few orders were far larger than the others.
        [traffic] { $observed_n ->
            [0] No visit came { $day_on }; about { $expected } would be normal.
            [one] { $observed } visit came { $day_on }; about { $expected } would be normal.
           *[other] { $observed } visits came { $day_on }; about { $expected } would be normal.
        }
        [conversion] { $observed_n ->
            [0] No order came { $day_on }; about { $expected } would be normal.
            [one] { $observed } order came { $day_on }; about { $expected } would be normal.
           *[other] { $observed } orders came { $day_on }; about { $expected } would be normal.
        }
        [tracking] { $observed_n ->
            [0] No visit was counted { $day_on }; about { $expected } would be normal.
            [one] { $observed } visit was counted { $day_on }; about { $expected } would be normal.
           *[other] { $observed } visits were counted { $day_on }; about { $expected } would be normal.
        }
        [refunded_product] { $observed_n ->
            [0] You refunded nothing of { $part } { $day_on }; about { $expected } would be normal.
           *[other] You refunded { $observed } of { $part } { $day_on }; about { $expected } would be normal.
        }
        [refund] { $observed_n ->
            [0] You refunded nothing { $day_on }; about { $expected } would be normal.
           *[other] You refunded { $observed } { $day_on }; about { $expected } would be normal.
        }
        [cost] Goods, fees and shipping came to { $observed } a unit { $day_on }; about { $expected } would be normal.
        [expense] { $observed_n ->
            [0] No other expenses were entered for { $day }; about { $expected } would be normal.
           *[other] The other expenses of { $day } came to { $observed }; about { $expected } would be normal.
        }
        [profit] Profit was { $observed } { $day_on }; about { $expected } would be normal. Sales were about normal.
       *[sales] You sold { $observed } { $day_on }; about { $expected } would be normal. The data does not tell why.
    }{ $has_share ->
        [yes] {" "}That is { $share } of the difference (confidence: { $confidence }).
       *[no] {""}
    }{ $record ->
        [year] {" "}It was the best day in a year.
        [ever] {" "}It was the best day so far.
       *[none] {""}
    }{ $normal ->
        [others] {" "}All others together were at their normal level.
        [visitors] {" "}Visits were at their normal level.
        [orders] {" "}The number of orders was normal.
       *[unknown] {""}
    }{ $money ->
        [less_profit] { $days_n ->
            [one] {" "}That is about { $amount } less profit than normal ({ $least } to { $most }).
           *[other] {" "}Over { $days } days that is about { $amount } less profit than normal ({ $least } to { $most }).
        }
        [more_profit] { $days_n ->
            [one] {" "}That is about { $amount } more profit than normal ({ $least } to { $most }).
           *[other] {" "}Over { $days } days that is about { $amount } more profit than normal ({ $least } to { $most }).
        }
        [less_sales] { $days_n ->
            [one] {" "}That is about { $amount } less in sales than normal ({ $least } to { $most }).
           *[other] {" "}Over { $days } days that is about { $amount } less in sales than normal ({ $least } to { $most }).
        }
        [more_sales] { $days_n ->
            [one] {" "}That is about { $amount } more in sales than normal ({ $least } to { $most }).
           *[other] {" "}Over { $days } days that is about { $amount } more in sales than normal ({ $least } to { $most }).
        }
       *[none] {""}
    }{ $has_returned ->
        [yes] {" "}An estimated { $returned } is taken off for all goods that came back.
       *[no] {""}
    }{ $state ->
        [open] {" "}It is over when { $back ->
            [stock] { $part } is in stock again.
            [visits] visits are counted as usual again.
            [low] the daily figure is { $low } or more again.
            [high] the daily figure is { $high } or less again.
           *[normal] days are normal again.
        }
        [goes_on] {" "}It has gone on since { $first }, and is over when { $back ->
            [stock] { $part } is in stock again.
            [visits] visits are counted as usual again.
            [low] the daily figure is { $low } or more again.
            [high] the daily figure is { $high } or less again.
           *[normal] days are normal again.
        }
        [usual] {" "}It has gone on since { $first } and counts as normal by now.
       *[over] { $back ->
            [stock] {" "}It is over: { $since_on } there was stock again.
           *[other] {" "}It is over: { $since_on } this was normal again.
        }
    }
    .action = { $action ->
        [check_checkout] { $what ->
            [platform] Place a test order { on-platform }, and check its checkout and payments.
            [country] Place a test order { $part_from }, and check payments and shipping there.
           *[other] Place a test order, and check the checkout and the payments.
        }
        [check_shop] Check that the shop is open and takes orders.
        [check_prices] Check the prices that were changed last.
        [check_refunds] { $what ->
            [refunded_product] Look at what the buyers of { $part } wrote, and at its description and its last delivery.
           *[other] Look at which products were refunded, and at what their buyers wrote.
        }
        [check_tracking] Check the code that counts visits, on every page of the shop.
        [check_traffic_sources] Check where visits come from: ads, searches and mailings.
        [pause_campaign] { $what ->
            [campaign] Pause the campaign { $part }, or lower its budget until it pays.
            [paid_campaign] Pause the campaign { $part }, or lower its budget until it pays.
           *[other] Look for the campaign that spends more, and pause it or lower its budget.
        }
        [keep_campaign] { $what ->
            [paid_campaign] Keep the campaign { $part } running, and raise its budget in small steps as long as it pays.
           *[other] Look for the campaign that brought the sales, and raise its budget in small steps as long as it pays.
        }
        [reorder] Reorder { $part } today, or take it off the shop until it is back.
        [serve_bulk_buyer] Look at the largest orders, check the stock for them, and stay in touch with their buyers.
        [compare_costs] Compare the costs of goods, fees and shipping with those of the days before.
        [check_expenses] Check the expenses of { $day } for duplicates, and for what belongs to other days as well.
        [check_product] Check the page, the price and the stock of { $part }.
        [keep_in_stock] Check that the stock of { $part } lasts, and show it in more places.
        [repeat_it] Look for what was different { $day_on }, and do it again.
        [ask_supplier] Units of { $part } are on order: ask the supplier when they come, and say so in the shop.
        [check_ads] Check whether the ads were stopped on purpose, and how they are paid.
        [prevent_it] It is back to normal. Make sure that it does not happen again.
       *[look_at_the_day] Check what was different { $day_on }: the shop, its prices, its stock and its ads.
    }
    .impact = { $money ->
        [less_profit] { $amount } less profit than normal
        [more_profit] { $amount } more profit than normal
        [less_sales] { $amount } less in sales than normal
        [more_sales] { $amount } more in sales than normal
       *[none] No sales are lost, but visits and conversion are not to be relied on
    }

insight-weekly-digest =
    .title = Your week from { $first } to { $last }
    .body = Sales after refunds: { $net_revenue } (the week before: { $net_revenue_before }). Orders: { $orders } ({ $orders_before }). Profit: { $profit } ({ $profit_before }). Ads: { $ad_spend } ({ $ad_spend_before }). New customers: { $new_customers } ({ $new_customers_before }).{ $happened ->
        [yes] {" "}What stood out: { $stories }.
       *[no] {" "}No single event stood out.
    }
    .action = { $has_todo ->
        [yes] { $todo }
       *[no] Go through the open insights.
    }
    .impact = { $profit } profit in the week

insight-record-day =
    .title = { $reach ->
        [year] Your best day in a year was { $day }
       *[ever] Your best day so far was { $day }
    }
    .body = You sold { $sales } { $day_on }, { $orders_n ->
        [one] in { $orders } order
       *[other] in { $orders } orders
    }. The best day before that was { $record_day }, with { $record }.
    .action = Look for what was different { $day_on }, and do it again.
    .impact = { $sales } in a day

insight-profit-rose =
    .title = Profit rose over the last { $days } days
    .body = Over the last { $days } days profit was { $profit }, after { $profit_before } in the { $days } days before. Net revenue went from { $net_revenue_before } to { $net_revenue }, all costs together from { $costs_before } to { $costs }.{ $has_returned ->
        [yes] {" "}An estimated { $returned } is taken off these costs for goods that came back.
       *[no] {""}
    }
    .action = Look at which products and channels sold more, and give them more room.
    .impact = { $gained } more profit in { $days } days
