explained-gross_revenue = Ingresos brutos
explained-refunds = Reembolsos
explained-ad_spend = Gasto en anuncios
explained-cogs_estimate = Costo de mercadería
explained-fees_estimate = Comisiones de pago
explained-shipping_estimate = Envío
explained-extra_expenses = Otros gastos
explained-net_revenue = Ingresos netos
explained-operational_profit = Ganancia operativa
explained-final_profit = Ganancia
explained-margin_pct = Margen
explained-purchase_count = Pedidos
input-goods_revenue = Ingresos por productos
input-cogs_covered_revenue = Ingresos con costo conocido
input-cogs_ratio = Proporción entre costo e ingresos
input-returned_units = Unidades devueltas
input-returned_cogs = Costo de las unidades devueltas
input-fees_estimated_orders = Pedidos con comisión estimada
input-fee_rate = Tasa de comisión
input-fee_fixed = Comisión por pedido
input-returned_fees = Comisiones devueltas
input-shipping_estimated_orders = Pedidos con envío estimado
input-shipping_per_order = Envío por pedido
way-title = De los ingresos brutos a la ganancia
column-way = Lo que queda
column-amount = Importe
column-before = Antes
column-change = Variación
column-basis = Costos
days-title = Día a día
cost-known = Costo conocido
of-goods = de { $revenue } en productos vendidos
days-estimated = Días con estimaciones
of-days = de { $days_n ->
    [one] { $days } día
   *[other] { $days } días
}
estimated = Estimado
stated = Informado
how-estimates = Lo que la tienda no informa de costos, comisiones o envíos se estima: por otras ventas si lo indican y, si no, por los supuestos de la cuenta. La cifra se marca entonces como estimada.
estimates-none = Aquí no hay nada estimado.
estimates-costs = Estimado aquí: el costo de los productos cuyo costo unitario no se conoce. Importa los costos unitarios y será exacto.
estimates-fees = Estimado aquí: las comisiones de pago de { $orders_n ->
    [one] { $orders } pedido del que
   *[other] { $orders } pedidos de los que
} la tienda no las informa. El supuesto está en los ajustes de la tienda.
estimates-shipping = Estimado aquí: el envío de { $orders_n ->
    [one] { $orders } pedido del que
   *[other] { $orders } pedidos de los que
} la tienda no lo informa. El supuesto está en los ajustes de la tienda.
estimates-returns = Estimado aquí: lo devuelto. Se supone que los productos devueltos pueden volver a venderse, y que la comisión se devuelve donde la plataforma lo hace.
profit-of = Ganancia { $day_on }
neighbours = Otros días
each-figure = Cada cifra y de dónde sale
lacks-comparison = No se muestra ningún cambio: las cifras de la tienda no cubren todos los días con los que se compara.
profit-lacks-costs = Se conoce el costo del { $share } de lo vendido. El resto se estima, y la ganancia también: importa los costos unitarios para que sea exacta.
profit-lacks-later = Lo que llegó después de { $at } todavía no está en estas cifras: se calculan cada noche.
profit-lacks-rates = En { $days_n ->
    [one] { $days } día
   *[other] { $days } días
} la ganancia no incluye el gasto en anuncios en monedas sin tipo de cambio. Importa los tipos de cambio y se contará desde la noche siguiente.
day-unusual = Qué fue inusual ese día
day-unusual-none = En este día no se encontró nada inusual.
day-unusual-not-yet = El día todavía no se revisó. Se revisa a la mañana siguiente.
