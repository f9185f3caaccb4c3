# What a person should know or do. Each has a title, a body, what to do, and what is at stake.

insight-loss =
    .title = The last { $days } days made a loss
    .body = Over the last { $days } days you lost { $lost }; in the { $days } days before, profit was { $profit_before }. Net revenue went from { $net_revenue_before } to { $net_revenue }, all costs together from { $costs_before } to { $costs }.{ $has_returned ->
        [yes] {" "}An estimated { $returned } is taken off these costs for goods that came back.
       *[no] {""}
    }
    .action = Compare the costs of both periods in the daily profit figures.
    .impact = A loss of { $lost } in { $days } days

insight-profit-fell =
    .title = Profit fell over the last { $days } days
    .body = Over the last { $days } days profit was { $profit }, after { $profit_before } in the { $days } days before. Net revenue went from { $net_revenue_before } to { $net_revenue }, all costs together from { $costs_before } to { $costs }.{ $has_returned ->
        [yes] {" "}An estimated { $returned } is taken off these costs for goods that came back.
       *[no] {""}
    }
    .action = Compare the costs of both periods in the daily profit figures.
    .impact = { $lost } less profit in { $days } days

insight-ads-return-less =
    .title = Ads bring in less than before
    .body = Ads brought in { $roas } times what they cost over the last { $days } days, after { $roas_before } in the { $days } days before. You spent { $spent } on them; all sales of the shop are counted.
    .action = Look at the campaigns that spend most and pause those that bring no orders.
    .impact = { $spent } of ad spend at the lower return

insight-new-customers-cost-more =
    .title = New customers cost more than before
    .body = { $new_customers_n ->
        [one] Each new customer cost { $cac } in ads over the last { $days } days, after { $cac_before } in the { $days } days before. { $new_customers } new customer came, against { $new_customers_before } before that.
       *[other] Each new customer cost { $cac } in ads over the last { $days } days, after { $cac_before } in the { $days } days before. { $new_customers } new customers came, against { $new_customers_before } before that.
    }
    .action = Compare this with what a new customer brings in over time.
    .impact = { $more } more per new customer

insight-sold-out =
    .title = { $products_n ->
        [one] { $products } product that sells is out of stock
       *[other] { $products } products that sell are out of stock
    }
    .body = { $others_n ->
        [0] There is no stock left of { $skus }.
       *[other] There is no stock left of { $skus_listed } and { $others } more.
    } { $products_n ->
        [one] It sold in the last { $days } days.
       *[other] Each of them sold in the last { $days } days.
    }
    .action = { $ordered ->
        [all] All is on order: ask the suppliers when it comes, and say so in the shop.
        [some] Reorder what is not on order yet, and ask the suppliers when the rest comes.
       *[none] { $products_n ->
            [one] Reorder it, or take it off the shop until it is back.
           *[other] Reorder them, or take them off the shop until they are back.
        }
    }
    .impact = { $valued ->
        [yes] About { $daily } in sales are lost every day
       *[no] { $products_n ->
            [one] Every day the sales of { $products } product are lost
           *[other] Every day the sales of { $products } products are lost
        }
    }

insight-running-out =
    .title = { $products_n ->
        [one] { $products } product will be sold out within { $days } days
       *[other] { $products } products will be sold out within { $days } days
    }
    .body = { $dated ->
        [yes] { $products_n ->
            [one] At the present pace the stock of { $skus } lasts until { $day }.
           *[other] { $others_n ->
                [0] At the present pace the stock of { $skus } lasts { $days } days at most, that of { $first } only until { $day }.
               *[other] At the present pace the stock of { $skus_listed } and { $others } more lasts { $days } days at most, that of { $first } only until { $day }.
            }
        }
       *[no] { $others_n ->
            [0] At the present pace the stock of { $skus } lasts { $days } days at most.
           *[other] At the present pace the stock of { $skus_listed } and { $others } more lasts { $days } days at most.
        }
    }
    .action = { $ordered ->
        [all] All is on order: ask the suppliers when it comes.
        [some] Reorder what is not on order yet, and ask the suppliers when the rest comes.
       *[none] { $products_n ->
            [one] Reorder it now.
           *[other] Reorder them now.
        }
    }
    .impact = { $products_n ->
        [one] { $products } product about to sell out
       *[other] { $products } products about to sell out
    }

insight-reorders =
    .title = { $items_n ->
        [one] { $items } item to reorder before it runs out
       *[other] { $items } items to reorder before they run out
    }
    .body = { $due ->
        [in_time] { $items_n ->
            [one] { $first } should be ordered by { $day } to arrive in time.
           *[other] { $others_n ->
                [0] { $skus } could run out if you ordered them later. { $first } should be ordered by { $day }.
               *[other] { $skus_listed } and { $others } more could run out if you ordered them later. { $first } should be ordered by { $day }.
            }
        }
        [late] { $items_n ->
            [one] { $first } will run out before a new order arrives.
           *[other] { $others_n ->
                [0] { $skus } could run out if you ordered them later. { $first } will run out before a new order arrives.
               *[other] { $skus_listed } and { $others } more could run out if you ordered them later. { $first } will run out before a new order arrives.
            }
        }
       *[unknown] { $items_n ->
            [one] { $items } item could run out if you ordered it later. The suggestion shows its figures.
           *[other] { $items } items could run out if you ordered them later. Each suggestion shows its figures.
        }
    }
    .action = Go through the pending reorder suggestions.
    .impact = { $items_n ->
        [one] { $items } item at risk of selling out
       *[other] { $items } items at risk of selling out
    }

insight-customers-at-risk =
    .title = { $customers_n ->
        [one] { $customers } good customer has not been back for a long time
       *[other] { $customers } good customers have not been back for a long time
    }
    .body = { $customers_n ->
        [one] This customer has spent { $revenue } so far, { $share } of what all customers have spent, and has been away for longer than most.
       *[other] They have spent { $revenue } so far, { $share } of what all customers have spent, and have been away for longer than most.
    }
    .action = Write to the customers at risk.
    .impact = { $customers_n ->
        [one] { $revenue } of past sales came from this customer
       *[other] { $revenue } of past sales came from them
    }

insight-comments-waiting =
    .title = { $comments_n ->
        [one] { $comments } comment has waited for an answer for more than a day
       *[other] { $comments } comments have waited for an answer for more than a day
    }
    .body = { $complaints_n ->
        [0] The oldest has waited since { $day }. No complaint is waiting.
        [one] The oldest has waited since { $day }. { $complaints } is a complaint.
       *[other] The oldest has waited since { $day }. { $complaints } of them are complaints.
    }
    .action = { $complaints_n ->
        [0] Answer what is waiting.
       *[other] Answer what is waiting, complaints first.
    }
    .impact = { $comments_n ->
        [one] { $comments } person is without an answer
       *[other] { $comments } people are without an answer
    }

insight-product-took-off =
    .title = { $product } took off: { $purchases } purchases in { $days } days
    .body = The last { $days } days brought { $purchases } purchases of { $product }, { $units } units in all. In the { $before } days before, { $days } days brought { $usual } on average and { $most } at most. That is about { $sales } more in sales.{ $stocked ->
        [unknown] {""}
        [out] {" "}There is no stock left of it.
        [awaited] {" "}There is no stock left of it.
       *[other] {" "}At this pace the stock of { $stock } lasts { $cover_n ->
            [one] { $cover } day.
           *[other] { $cover } days.
        }
    }
    .action = { $stocked ->
        [short] Reorder { $product } before it sells out.
        [out] Reorder { $product }, or take it off the shop until it is back.
        [awaited] Units of { $product } are on order: ask the supplier when they come, and say so in the shop.
       *[other] Show { $product } more prominently while it sells.
    }
    .impact = { $sales } more in sales in { $days } days

insight-campaign-pays =
    .title = { $campaign } brings in { $roas } times what it costs
    .body = Over { $days } days { $spent } went into { $campaign }. By the platform's own count it brought in { $sales } in sales. It pays for itself from { $least } times its cost on.{ $others ->
        [yes] {" "}Your other campaigns bring in { $roas_others } times what they cost.
       *[no] {""}
    }
    .action = Give { $campaign } more budget in small steps, as long as its sales keep up.
    .impact = { $others ->
        [yes] About { $gain } more profit than the same money brings in your other campaigns
       *[no] About { $gain } of profit from { $campaign } in { $days } days
    }

insight-stale-shop =
    .title = No data from { $shop } since { $day }
    .body = { $source ->
        [ads] The { platform } ad account { $shop } was last synced { $day_on }.
       *[shop] The { platform } shop { $shop } was last synced { $day_on }.
    }{ $ended ->
        [yes] {" "}{ platform } no longer accepts the connection.
       *[no] {""}
    }
    .action = { $ended ->
        [yes] Connect it again.
       *[no] { $source ->
            [ads] Check the connection, and connect the account again if need be.
           *[shop] Check the connection, and connect the shop again if need be.
        }
    }
    .impact = Figures of later days are incomplete
