figures = Cifras; cada una cambia el gráfico de abajo

per-day-profit = Ganancia por día
per-day-net_revenue = Ingresos netos por día
per-day-orders = Pedidos por día
per-day-aov = Pedido promedio por día
per-day-margin = Margen por día
per-day-ad_spend = Gasto en anuncios por día

sum-alone = { $name }: { $value }.
sum-more = { $name }: { $value }, { $change } más que { $than }.
sum-less = { $name }: { $value }, { $change } menos que { $than }.
sum-same = { $name }: { $value }, igual que { $than }.
than-before = en los { $days } días anteriores
than-weekdays = en los mismos días de la semana, { $weeks_n ->
    [one] { $weeks } semana
   *[other] { $weeks } semanas
} antes
than-year = un año antes
outside-none = Ningún día salió del rango esperado.
outside-one = Un día salió del rango esperado: { $day }, con { $value }.
outside-many = { $count } días salieron del rango esperado; el que más se alejó, { $day }, con { $value }.

line-today = hoy hasta ahora
line-before-before = { $days } días antes
line-before-weekdays = { $weeks_n ->
    [one] { $weeks } semana
   *[other] { $weeks } semanas
} antes
line-before-year = un año antes

no-orders = Todavía no hay pedidos
no-orders-what = Las primeras cifras llegan unos minutos después de los primeros pedidos. Conecta una tienda o importa un archivo de pedidos.
connect-shop = Conectar una tienda
not-computed = Todavía no se calculó nada. Se calcula cada noche, y también después de cada importación.
no-figures = Sin cifras para estos días
no-snapshot = Todavía no se calculó nada para estos días. Se calcula cada noche y justo después de una importación.

happened = Qué pasó
happened-none = Nada requiere tu atención ahora. Lo que pase se cuenta aquí a la mañana siguiente.
happened-not-yet = Lo que pase se contará aquí desde la mañana siguiente a los primeros pedidos.
stockouts = Sin stock en 14 días
stockouts-none = No se espera que nada se agote en los próximos 14 días.
risks = Riesgos de los próximos 30 días
risks-first = Riesgos de los próximos 30 días: los { $shown } más graves de { $count }
risks-none = Ningún riesgo se destaca.
risks-not-yet = Los riesgos se buscan cada noche y justo después de una importación.
likely-loss = pérdida probable
risk-likely = Probabilidad: { $share }.
risk-range = Puede costar de { $low } a { $high }.
risk-amount = Puede costar { $high }.
risk-act-reorder = Reponer
risk-act-discount = Liquidar
risk-act-contact = Ponerse en contacto
risk-act-reconnect = Reconectar
risk-act-pause_ad = Pausar el anuncio
risk-act-top_up = Comprar créditos
risk-act-fix_endpoint = Corregir el receptor
risk-act-reply = Responder
risk-act-review = Revisar
sources = De dónde vienen las cifras
source = Fuente
state = Estado
newest = Registro más nuevo
state-connected = Al día
state-stale = Sin datos
state-revoked = Desconectada
state-never_synced = Leyendo
source-orders = Pedidos
source-refunds = Reembolsos
source-ad_spend = Gasto en anuncios
source-expenses = Gastos
source-stock_levels = Niveles de stock
source-track_events = Visitas

how-profit = Ganancia = ingresos netos − costo de mercadería − comisiones de pago − envío − anuncios − otros gastos. Un costo que la tienda no informa se estima.
how-net_revenue = Ingresos netos = ingresos brutos − reembolsos. Un reembolso cuenta en su propio día.
how-orders = Pedidos en el día en que se pagaron, en la zona horaria de la cuenta.
how-aov = Pedido promedio = ingresos brutos ÷ pedidos. Sin valor en un día sin pedidos.
how-margin = Margen = ganancia ÷ ingresos netos. Sin valor donde los ingresos netos no son mayores que cero.
how-ad_spend = Gasto en anuncios como lo informan las plataformas o tus archivos.
how-stories = Los eventos se encuentran al comparar cada día con lo que los días anteriores hacían esperar, y se ordenan: lo crítico primero, después por el dinero en juego.
how-stockouts = De la demanda prevista de cada producto y su stock. La barra abarca 6 de cada 10 resultados.
how-risks = La pérdida probable es el promedio de lo que puede pasar en 30 días, como margen de contribución, no como ventas.
curl-figures = las cifras: “totals”, de los días completos
curl-chart = el gráfico: “data”, con el día de hoy

# Desde la visita anterior.
news = Nuevo desde tu última visita ({ $time }):
news-none = No hay nada nuevo desde tu última visita ({ $time }).
news-anomalies = { $count_n ->
    [one] { $count } anomalía
   *[other] { $count } anomalías
}
news-insights = { $count_n ->
    [one] { $count } novedad
   *[other] { $count } novedades
}
news-alerts = { $count_n ->
    [one] se disparó { $count } alerta
   *[other] se dispararon { $count } alertas
}
news-broken = { $count_n ->
    [one] { $count } tienda no se puede leer
   *[other] { $count } tiendas no se pueden leer
}
