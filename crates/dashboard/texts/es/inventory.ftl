stock-states = Productos por estado; cada uno muestra los suyos abajo
stock-critical = Crítico
stock-low = Bajo
stock-ok = Suficiente
stock-overstocked = Demasiado
stock-critical-what = dura 7 días o menos
stock-low-what = dura 21 días o menos
stock-ok-what = dura hasta 120 días
stock-overstocked-what = dura más, o no se vende
stock-title = Todos los productos, primero los más urgentes
stock-critical-title = Productos críticos, primero los más urgentes
stock-low-title = Productos con stock bajo
stock-ok-title = Productos con stock suficiente
stock-overstocked-title = Productos con demasiado stock
stock-none = Ningún producto está en este estado.
stock-unknown = Todavía no se conoce el stock de ningún producto. Conecta una tienda o importa un archivo con existencias; las primeras cifras llegan unos minutos después.
days-of-stock = Días de stock
units-a-day = Unidades por día
how-states = El estado depende de cuántos días dura el stock.
search-products = El SKU o el nombre empieza con
sold-in-7 = Vendidas en 7 días
sold-in-30 = Vendidas en 30 días
lasts-title = Cuánto dura
sold-title = Lo que se vendió, por día
line-sold = vendidas
not-sold = No se vendió nada
not-sold-what = En los últimos 90 días nadie lo compró.
sold-sum = { $count_n ->
    [one] Se vendió { $count } unidad en los últimos { $days } días completos.
   *[other] Se vendieron { $count } unidades en los últimos { $days } días completos.
}
sold-best = El mejor día, { $day }: { $count }.
column-sold = Vendidas
column-returned = Devueltas
column-left = Quedaban al final
how-sold = Unidades como se pidieron, en el día del pedido. Lo devuelto cuenta en su propio día. Lo que quedaba es lo que la tienda o un archivo dijo al final del día.
