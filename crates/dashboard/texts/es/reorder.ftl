reorder-pending = Por pedir
reorder-ordered = Pedidas
reorder-dismissed = Descartadas
reorder-pending-title = Qué volver a comprar
reorder-ordered-title = Lo que pediste
reorder-dismissed-title = Lo que descartaste
reorder-pending-none = No hay nada que comprar ahora: el stock de cada producto dura hasta que llegaría un pedido posterior.
reorder-ordered-none = No hay nada marcado como pedido.
reorder-dismissed-none = No descartaste nada.
reorder-now-pending = Está de nuevo por pedir.
reorder-now-ordered = Marcada como pedida. No se sugiere de nuevo hasta que el pedido pueda haber llegado.
reorder-now-dismissed = Descartada.
reorder-basis = Los números detrás
reorder-about = Cubre { $days_n ->
    [one] { $days } día
   *[other] { $days } días
} de demanda con una probabilidad de { $share } · calculado: { $at }
order-so-many = Pedir { $quantity } de { $product }
do-not-order = { $product }: harían falta { $quantity }
sells-at-a-loss = Se vende con pérdida
mark-ordered = Marcar como pedido
units = unidades
column-value = Valor
basis-on_hand = En stock
basis-on_order = Pedidas
basis-lead_time_days = Días de entrega
basis-review_days = Días hasta la próxima ocasión de pedir
basis-daily_demand = Ventas esperadas por día
basis-expected_demand = Ventas esperadas hasta que llegue el próximo pedido
basis-safety_stock = Stock de seguridad
basis-reorder_point = Pedir cuando el stock baje a
basis-order_up_to = Pedir hasta llegar a
basis-service_level = Probabilidad buscada
basis-pack_size = Unidades por paquete
basis-min_order_qty = Cantidad mínima
basis-unit_contribution = Lo que deja cada unidad vendida
basis-sold_last_year = Vendidas hace un año en ese tiempo
how-reorder = La cantidad con la que el stock y el pedido duran hasta que llegue el siguiente, en tantos casos de cada 100 como busca la cuenta; redondeada a paquetes y a la cantidad mínima.
