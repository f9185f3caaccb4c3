# Cifras, sus períodos y estados, en más de una página.

period = Período
period-day = Día
period-7d = 7 días
period-30d = 30 días
period-90d = 90 días
period-12m = 12 meses
window-other = Otros días
window-earlier = Antes: { $days }
window-later = Después: { $days }
window-newest = Estos son los últimos días terminados
page-window = { $days }, días completos, { $place }
page-place = hora de { $zone }, { $currency }
# Cities of time zones that are spelled otherwise there.
city = { $code ->
    [Asuncion] Asunción
    [Belem] Belém
    [Berlin] Berlín
    [Bogota] Bogotá
    [Cancun] Cancún
    [Cordoba] Córdoba
    [Cuiaba] Cuiabá
    [Havana] La Habana
    [Lisbon] Lisboa
    [London] Londres
    [Los_Angeles] Los Ángeles
    [Maceio] Maceió
    [Merida] Mérida
    [Mexico_City] Ciudad de México
    [New_York] Nueva York
    [Panama] Panamá
    [Paris] París
    [Sao_Paulo] São Paulo
    [Tucuman] Tucumán
   *[other] { $name }
}
compare-with = Comparar: { $with }
compare-before = los { $days } días anteriores
compare-weekdays = mismos días de la semana
compare-year = año pasado
compare-none = nada
compare-before-window = { $count } días antes, { $days }
compare-weekdays-window = Mismos días de la semana, { $days }
compare-year-window = Año pasado, { $days }
compare-nothing = Nada
metric-profit = Ganancia
metric-net_revenue = Ingresos netos
metric-orders = Pedidos
metric-aov = Pedido promedio
metric-margin = Margen
metric-ad_spend = Gasto en anuncios
metric-gross_revenue = Ingresos brutos
metric-units = Unidades vendidas
metric-customers = Clientes que compraron
metric-new_customers = Clientes nuevos
metric-refunds = Reembolsos
metric-refund_rate = Tasa de reembolso
metric-roas = Retorno de los anuncios
metric-cac = Costo por cliente nuevo
metric-conversion = Conversión
more = más
less = menos
unchanged = sin cambios
from-before = antes { $before }
line-expected = esperado
column-expected = Rango esperado
mark = { $day }: { $value } { $name }, se esperaba { $range }. Ver por qué
at-stake = en juego
product = Producto
likely-on = Probable el
units-left = { $count_n ->
    [one] queda { $count }
   *[other] quedan { $count }
}
out-now = Sin stock
axis-today = hoy
axis-days = { $count } días
how-band = El rango esperado es donde caen unos 19 de cada 20 días corrientes: incluye día de la semana, tendencia, estacionalidad y feriados.
how-edge = Donde la línea comparada va por el borde, ese día queda muy fuera de la escala. Su cifra está en la tabla.

severity-low = Baja
severity-medium = Media
severity-high = Alta
severity-critical = Crítica
all = Todas
show = Mostrar
next-page = Siguiente
over-days = En más de { $days } días
no-demand = No se vende
all-products = Todos los productos
