alerts = Alertas
alerts-about = Una alerta vigila una cifra y dispara el evento alert.fired cuando cruza un umbral: una vez, hasta que se recupere.
alerts-title = Reglas, las más nuevas primero
alerts-none = Aún no hay ninguna regla. Toma una de las tres de abajo, o haz la tuya: primero ves cuántas veces se habría disparado.
alerts-ready = Listas para usar
ready-no-orders = Un día sin pedidos
ready-loss = Un día con pérdida
ready-stockouts = Se agotó algo que se vende
how-alerts = Las reglas se evalúan cada cinco minutos. El primer valor más allá del umbral la dispara; un valor del otro lado la arma de nuevo. Tras dispararse calla durante su pausa. Pedidos, ingresos, reembolsos, pedido promedio y eventos son de las últimas horas, hasta ahora. Gasto en anuncios, ROAS, ganancia y margen son de días completos, sin hoy. Los productos agotados son los del último cálculo, que se hace una vez al día.
alert-name = Nombre
alert-state = Estado
alert-last-value = Último valor
alert-last-fired = Último disparo
alert-last-evaluated = Última evaluación
alert-metric = Vigilar
alert-event = Nombre del evento
alert-event-help = Solo para un evento registrado.
alert-comparator = Se dispara cuando está
alert-threshold = Umbral
alert-threshold-help = Dinero en la moneda de la cuenta, el margen en porcentaje.
alert-window = En cuántas horas
alert-window-help = Pedidos, ingresos, reembolsos y pedido promedio de 1 a 2160. Gasto en anuncios, ROAS, ganancia y margen en días completos: 24, 48, etc., hasta 2160. Productos agotados 24. Eventos de 1 a 168.
alert-severity = Gravedad
alert-cooldown = Silencio tras dispararse, horas
alert-cooldown-help = De 0 a 720.
alert-name-bad = Escribe un nombre de 1 a 120 caracteres.
alert-metric-bad = Elige qué vigilar.
alert-event-bad = Escribe el nombre con que se registra el evento.
alert-comparator-bad = Elige cuándo se dispara.
alert-threshold-bad = Escribe un número menor que un billón con seis decimales como máximo.
alert-window-bad = Esta cifra no se conoce en tantas horas.
alert-severity-bad = Elige una gravedad.
alert-cooldown-bad = Escribe un número entero de horas de 0 a 720.
alert-limit = Ya hay 50 reglas, que es el límite. Borra una antes.
alert-armed = Vigilando
alert-beyond = Más allá del umbral
alert-off = Silenciada
alert-new = Aún sin evaluar
alert-new-title = Una regla nueva
alert-new-about = Aún no se crea nada: primero ves cuántas veces se habría disparado en los últimos 90 días.
alert-try = Ver cuántas veces se habría disparado
alert-make-title = Crear «{ $name }»
alert-make = Crear esta regla
alert-made = Regla creada. Se evalúa en minutos.
alert-changed = Regla cambiada.
alert-deleted = Regla borrada.
alert-change-title = Cambiar la regla
alert-change-about = Una regla que pasa a vigilar otra cosa se arma de nuevo y olvida lo que vio.
alert-change = Guardar
alert-mute = Silenciarla
alert-mute-about = No se evalúa hasta que la enciendas de nuevo.
alert-unmute = Encenderla
alert-unmute-about = Se arma de nuevo y se evalúa en minutos.
alert-delete = Borrar la regla
alert-delete-about = Desaparece para siempre.
trial-untold = Las sumas de los días no dicen cuántas veces se habría disparado: vigila partes de un día, un evento o el stock.
trial-count = { $count_n ->
    [0] No se habría disparado en los últimos { $days } días.
    [one] Se habría disparado una vez en los últimos { $days } días, evaluada al terminar cada día:
   *[other] Se habría disparado { $count } veces en los últimos { $days } días, evaluada al terminar cada día; las más nuevas:
}
comparator-gt = por encima del umbral
comparator-gte = en el umbral o por encima
comparator-lt = por debajo del umbral
comparator-lte = en el umbral o por debajo
condition-gt = { $metric }: más de { $threshold } en { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
condition-gte = { $metric }: { $threshold } o más en { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
condition-lt = { $metric }: menos de { $threshold } en { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
condition-lte = { $metric }: { $threshold } o menos en { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
watch-orders = Pedidos
watch-revenue = Ingresos
watch-profit = Ganancia
watch-margin = Margen
watch-aov = Pedido promedio
watch-refunds = Reembolsos
watch-ad_spend = Gasto en anuncios
watch-roas = ROAS
watch-stockouts = Productos agotados
watch-event = Un evento registrado
watch-event-of = Eventos «{ $name }»

firings-title = Cuándo se disparó, lo más nuevo primero
firings-none = Todavía no se disparó.
firing-time = Cuándo
firing-observed = Valor
firing-sent = Entregada
firing-delivered = Entregada: { $delivered } de { $all }
firing-nobody = Ningún webhook
how-firings = Cada vez que la regla se disparó, con el valor que se vio y el umbral que tenía entonces. Entregada cuenta los webhooks a los que fue el evento; las entregas se guardan un tiempo, los disparos un año.
