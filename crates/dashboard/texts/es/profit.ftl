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
days-title = Día por día
cost-known = Costo conocido
of-goods = de { $revenue } en productos vendidos
days-estimated = Días con estimaciones
of-days = de { $days_n ->
    [one] { $days } día
   *[other] { $days } días
}
estimated = Estimado
stated = Informado
how-estimates = Donde la tienda no informa un costo, una comisión o un envío, se usa el supuesto de la cuenta y la cifra se marca como estimada. Informa los costos por unidad de tus productos y las marcas desaparecen.
profit-of = Ganancia { $day_on }
neighbours = Otros días
each-figure = Cada cifra y de dónde sale
profit-lacks-costs = Se conoce el costo del { $share } de lo vendido. El resto se estima, y con él la ganancia: importa los costos unitarios para que sea exacta.
profit-lacks-rates = En { $days_n ->
    [one] { $days } día
   *[other] { $days } días
} la ganancia no incluye gasto publicitario en una moneda sin tipo de cambio. Importa los tipos de cambio y se contará desde la noche siguiente.
