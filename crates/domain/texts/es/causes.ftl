# Why a metric was not what was expected: the way from it to what an owner can look at.

cause-closed-day = La tienda no vendió nada ese día; lo normal { $orders_n ->
    [one] sería { $orders } pedido.
   *[other] serían unos { $orders } pedidos.
}
cause = { $drivers } ({ $share } de la diferencia).
cause-because = ,{" "}porque{" "}
cause-driver = { $metric ->
    [gross_revenue] las ventas{ $place } estuvieron
    [net_revenue] las ventas menos reembolsos{ $place } estuvieron
    [orders] los pedidos{ $place } estuvieron
    [units] las unidades vendidas{ $place } estuvieron
    [visitors] las visitas{ $place } estuvieron
    [ad_clicks] los clics en anuncios{ $place } estuvieron
    [visitors_per_click] las visitas por clic en anuncios{ $place } estuvieron
    [clicks_per_spend] los clics por lo gastado en anuncios{ $place } estuvieron
    [share_of_visitors] la parte de las visitas{ $place } estuvo
    [orders_per_visitor_of_all] los pedidos{ $place } por visita a la tienda estuvieron
    [conversion] la parte de las visitas que terminó en pedido{ $place } estuvo
    [customers] los clientes que compraron{ $place } estuvieron
    [new_customers] los clientes nuevos{ $place } estuvieron
    [returning_customers] los clientes que volvieron{ $place } estuvieron
    [orders_per_customer] los pedidos por cliente{ $place } estuvieron
    [units_per_order] las unidades por pedido{ $place } estuvieron
    [price_per_unit] el precio promedio de una unidad{ $place } estuvo
    [aov] el pedido promedio{ $place } estuvo
    [refunds] los reembolsos{ $place } estuvieron
    [refund_rate] la parte de las ventas que se reembolsó{ $place } estuvo
    [cogs] el costo de lo vendido{ $place } estuvo
    [fees] las comisiones{ $place } estuvieron
    [shipping] los gastos de envío{ $place } estuvieron
    [ad_spend] el gasto en anuncios{ $place } estuvo
    [extra_expenses] los demás gastos{ $place } estuvieron
    [cogs_per_unit] el costo de los productos por unidad{ $place } estuvo
    [shipping_per_order] los gastos de envío por pedido{ $place } estuvieron
    [cogs_per_gross_revenue] el costo de los productos por venta{ $place } estuvo
    [fees_per_gross_revenue] las comisiones por venta{ $place } estuvieron
    [shipping_per_gross_revenue] los gastos de envío por venta{ $place } estuvieron
   *[other] otra cifra{ $place } estuvo
} { $compared ->
    [far_below] muy por debajo de lo normal
    [far_above] muy por encima de lo normal
    [nothing] en cero
    [times] en { $times } veces el nivel normal
    [points_below] en { $observed }, { $points } por debajo de lo normal
    [points_above] en { $observed }, { $points } por encima de lo normal
    [below] un { $percent } por debajo de lo normal
   *[above] un { $percent } por encima de lo normal
}
# With the space before it.
cause-place = { $by ->
    [platform] {" "}{ on-platform }
    [product] {" "}de { $part }
    [country] {" "}{ $part_in }
    [campaign] {" "}de la campaña { $part } { on-platform }
   *[country_platform] {" "}{ $part_in }, { on-platform },
}
# The same of all parts that are not named.
cause-others = { $by ->
    [platform] {" "}en todas las demás plataformas juntas
    [product] {" "}de todos los demás productos juntos
    [country] {" "}en todos los demás países juntos
    [campaign] {" "}de todas las demás campañas juntas
   *[country_platform] {" "}en todos los demás países y plataformas juntos
}
