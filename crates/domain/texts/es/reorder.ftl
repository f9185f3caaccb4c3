# Why so much of an item is to be ordered.

reorder-reason = Se venden unas { $daily_demand } unidades al día; { $owed_n ->
    [0] hay { $on_hand } en stock
   *[other] no hay stock, { $owed } ya están vendidas
}{ $on_order_n ->
    [0] {""}
   *[other] {" "}y { $on_order } en camino
}. Se espera vender unas { $expected_demand } antes de que pueda llegar un pedido hecho dentro de { $review_days_n ->
    [one] { $review_days } día
   *[other] { $review_days } días
} ({ $lead_time_days_n ->
    [one] { $lead_time_days } día
   *[other] { $lead_time_days } días
} de entrega){ $season ->
    [ends] , pero la temporada se acaba: según las ventas del año pasado{ $season_of ->
        [category] {" "}de su categoría
        [shop] {" "}de la tienda
       *[item] {""}
    }, se esperan unas { $sold_last_year } desde este día hasta cuatro meses después de la llegada de un pedido así{ $after_arrival ->
        [known] , { $sold_after_arrival } de ellas cuando ya haya llegado
       *[unknown] {""}
    }
   *[goes_on] , y { $order_up_to } bastan con una probabilidad del { $confidence }
}. { $recommended ->
    [no] Pero cada unidad vendida pierde unos { $loss }, descontados su costo, las comisiones y el envío: sube el precio o baja el costo antes de pedir { $quantity }
   *[yes] Pide { $quantity }
}{ $packed ->
    [packs_and_least] {" "}(en paquetes de { $pack_size }, mínimo { $min_order_qty }).
    [packs] {" "}(en paquetes de { $pack_size }).
    [least] {" "}(mínimo { $min_order_qty }).
   *[no] .
}
