insights-open = Abiertas
insights-resolved = Hechas
insights-dismissed = Descartadas
insights-open-title = Lo que requiere tu atención, según lo que está en juego
insights-resolved-title = Lo que ya está hecho
insights-dismissed-title = Lo que descartaste
insights-open-none = Nada requiere tu atención ahora. Lo que pase se cuenta aquí a la mañana siguiente.
insights-resolved-none = Todavía no hay nada hecho. Aquí queda lo que terminas y lo que se resuelve solo.
insights-dismissed-none = No descartaste nada.
insight-now-open = Está abierta de nuevo.
insight-now-resolved = Marcada como hecha. No se vuelve a mostrar durante 7 días.
insight-now-dismissed = Descartada. No se vuelve a mostrar durante 14 días.
insight-as-of = actualizada: { $at }
insight-ended-open = abierta desde: { $at }
insight-ended-resolved = hecha: { $at }
insight-ended-dismissed = descartada: { $at }
done = Hecho
dismiss = Descartar
undo = Deshacer
reopen = Volver a abrir
category-ads = Anuncios
category-churn_risk = Clientes en riesgo
category-inventory = Stock
category-profit = Ganancia
category-revenue = Ingresos
category-customers = Clientes
category-pricing = Precios
category-integrations = Conexiones
category-social = Comentarios
how-insights = Hay como máximo siete abiertas a la vez, las que tienen más en juego; lo crítico va primero. Un evento se cuenta una vez, por muchas cifras que haya movido.
insights-now = Generarlas ahora
insights-now-what = Se generan cada noche. También se pueden generar en el momento, con lo que se sabe ahora.
insights-now-price = Un modelo de lenguaje redacta lo que es nuevo, por { $credits_n ->
    [one] { $credits } crédito
   *[other] { $credits } créditos
}. No cuesta nada si no hay nada nuevo, ni si un texto no pasa el control de sus cifras.
insights-now-free = No cuesta nada.
insights-now-make = Generar
insights-under-way = Se están generando. Esta página se actualiza sola.
insights-worded = Generadas recién, por { $credits_n ->
    [one] { $credits } crédito
   *[other] { $credits } créditos
}.
insights-made = Generadas recién. No costó nada.
insights-nothing-new = No hay nada nuevo. No costó nada.
insights-plain = Generadas recién, con palabras simples: un texto del modelo de lenguaje no pasó el control de sus cifras. No costó nada.
insights-failed = El modelo de lenguaje no dio ningún texto. No costó nada. Prueba más tarde.
insights-paused = La IA está en pausa para esta tienda, así que no se pidió nada.
insights-insufficient = No alcanzan los créditos, así que no se pidió nada.
