# Why so much of an item is to be ordered.

reorder-reason = { $daily_demand_n ->
    [one] Vende-se cerca de { $daily_demand } unidade por dia
   *[other] Vendem-se cerca de { $daily_demand } unidades por dia
}; { $owed_n ->
    [0] há { $on_hand } em estoque
   *[other] não há estoque, { $owed } já foram vendidas
}{ $on_order_n ->
    [0] {""}
   *[other] {" "}e { $on_order } a caminho
}. Espera-se vender cerca de { $expected_demand } antes que um pedido feito em { $review_days_n ->
    [one] { $review_days } dia
   *[other] { $review_days } dias
} possa chegar ({ $lead_time_days_n ->
    [one] { $lead_time_days } dia
   *[other] { $lead_time_days } dias
} de entrega){ $season ->
    [ends] , mas a temporada está acabando: pelas vendas do ano passado{ $season_of ->
        [category] {" "}da sua categoria
        [shop] {" "}da loja
       *[item] {""}
    }, esperam-se cerca de { $sold_last_year } deste dia até quatro meses depois da chegada de um pedido assim{ $after_arrival ->
        [known] , { $sold_after_arrival } delas depois que ele chegar
       *[unknown] {""}
    }
   *[goes_on] , e { $order_up_to } bastam com uma probabilidade de { $confidence }
}. { $recommended ->
    [no] Mas cada unidade vendida perde cerca de { $loss }, descontados o custo, as taxas e o frete: aumente o preço ou reduza o custo antes de pedir { $quantity }
   *[yes] Peça { $quantity }
}{ $packed ->
    [packs_and_least] {" "}(em pacotes de { $pack_size }, no mínimo { $min_order_qty }).
    [packs] {" "}(em pacotes de { $pack_size }).
    [least] {" "}(no mínimo { $min_order_qty }).
   *[no] .
}
