# Why so much of an item is to be ordered.

reorder-reason = Sells about { $daily_demand } a day; { $owed_n ->
    [0] { $on_hand } in stock
   *[other] none in stock, { $owed } sold already
}{ $on_order_n ->
    [0] {""}
   *[other] {" "}and { $on_order } on order
}. { $expected_demand_n ->
    [one] About { $expected_demand } is
   *[other] About { $expected_demand } are
} expected to sell before an order placed in { $review_days_n ->
    [one] { $review_days } day
   *[other] { $review_days } days
} could arrive ({ $lead_time_days_n ->
    [one] { $lead_time_days } day
   *[other] { $lead_time_days } days
} of delivery){ $season ->
    [ends] , but the season will be ending: by last year's sales{ $season_of ->
        [category] {" "}of its category
        [shop] {" "}of the shop
       *[item] {""}
    } about { $sold_last_year } are expected from this day until four months after such an order would arrive{ $after_arrival ->
        [known] , { $sold_after_arrival } of them after its arrival
       *[unknown] {""}
    }
   *[goes_on] , and { $order_up_to } cover it with a probability of { $confidence }
}. { $recommended ->
    [no] But each unit sold loses about { $loss } after its cost, fees and shipping: raise the price or lower the cost before you order { $quantity }
   *[yes] Order { $quantity }
}{ $packed ->
    [packs_and_least] {" "}(packs of { $pack_size }, at least { $min_order_qty }).
    [packs] {" "}(packs of { $pack_size }).
    [least] {" "}(at least { $min_order_qty }).
   *[no] .
}
