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
