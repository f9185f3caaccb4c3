severity = Gravedad
last-days = { $days } días
column-figure = Indicador
column-that-day = Ese día
column-likely = Esperado
anomalies-title = Días que no fueron como se esperaba, del más nuevo al más viejo
anomalies-none = En estos días todas las cifras fueron como se esperaba.
anomalies-not-yet = Todavía no se revisó nada. Hacen falta { $needed } días de historial; después cada día se revisa a la mañana siguiente.
anomalies-lacking = Todavía no se puede evaluar nada: hacen falta { $needed } días de historial, y hay { $days_n ->
    [one] { $days } día
   *[other] { $days } días
}. Desde entonces cada día se revisa a la mañana siguiente.
how-anomalies = Cada cifra de un día se compara con lo que los días anteriores hacían esperar. La gravedad es cuánto se alejó y por cuánto dinero.
anomaly-title = { $direction ->
    [down] { $name }: por debajo de lo normal { $day_on }
   *[up] { $name }: por encima de lo normal { $day_on }
}
anomaly-alert = Crear una alerta
anomaly-alert-name = { $direction ->
    [down] { $name }: por debajo de lo normal
   *[up] { $name }: por encima de lo normal
}
expected-range = se esperaba { $range }
found-at = encontrada: { $at }
confidence = Confianza en la causa
no-cause = Ninguna causa conocida lo explica por sí sola.
no-cause-short = causa desconocida
anomaly-shift = No volvió: el nivel cambió, y lo que se espera cambia con él.
metric-around = { $name } por día, 28 días antes y después
anomaly-sum = { $name }: { $value } { $day_on }, cuando lo normal habría sido { $range }.
no-days = Los días cercanos no están guardados
no-days-what = Se guardan desde la próxima noche, cuando los días se revisan de nuevo.
explains = Qué explica la diferencia de { $amount }
explains-none = Esta cifra no se puede dividir en partes.
how-drivers = Se prueba cada división (canal, país, producto, campaña y aquello de lo que se compone la cifra). Se muestra la que explica la mayor parte de la diferencia con menos partes. Una proporción es parte de la fila de arriba. El costo de mercadería, las comisiones y el envío se esperan en la proporción habitual de lo vendido ese día; ningún costo se espera por debajo de cero.
worked-against = en sentido contrario
instead-of = { $observed } en vez de { $expected }
all-others = el resto
part-on = { $part } en { $platform }
beside = Qué más fue inusual ese día
beside-none = Todas las demás cifras fueron como se esperaba ese día.
along = Se movieron también, aunque no tanto como para ser inusuales por sí solas: { $names }.
moved-along = { $direction ->
    [down] { $name } (a la baja)
   *[up] { $name } (al alza)
}
driver = { $metric ->
    [visitors] Visitas
    [ad_clicks] Clics en anuncios
    [visitors_per_click] Visitas por clic en anuncios
    [clicks_per_spend] Clics por lo gastado en anuncios
    [share_of_visitors] Parte de las visitas
    [orders_per_visitor_of_all] Pedidos por visita a la tienda
    [returning_customers] Clientes que volvieron
    [orders_per_customer] Pedidos por cliente
    [units_per_order] Unidades por pedido
    [price_per_unit] Precio promedio de una unidad
    [cogs] Costo de mercadería
    [fees] Comisiones de pago
    [shipping] Envío
    [extra_expenses] Otros gastos
    [cogs_per_unit] Costo de mercadería por unidad
    [shipping_per_order] Envío por pedido
    [cogs_per_gross_revenue] Costo de mercadería por venta
    [fees_per_gross_revenue] Comisiones por venta
    [shipping_per_gross_revenue] Envío por venta
    [ad_spend_per_gross_revenue] Gasto en anuncios por venta
    [extra_expenses_per_gross_revenue] Otros gastos por venta
    [costs_per_gross_revenue] Todos los costos por venta
    [costs_per_net_revenue] Todos los costos por venta neta
    [net_per_gross_revenue] Parte de las ventas que no se reembolsa
   *[other] Otra cifra
}
