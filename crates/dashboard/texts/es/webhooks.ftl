webhooks-about = Un webhook envía lo que pasa en esta tienda a una dirección tuya, en el momento en que pasa.
webhooks-title = { $count_n ->
    [one] { $count } webhook
   *[other] { $count } webhooks
}
webhooks-none = Aún no hay ningún webhook. Indica abajo una dirección, elige qué se envía ahí y mándate una prueba.
webhook-url = Dirección
webhook-events = Eventos
webhook-state = Estado
webhook-share = Entregado en 24 horas
webhook-last = Último intento
events-all = los { $count } del catálogo
events-some = { $count_n ->
    [one] { $count } evento
   *[other] { $count } eventos
}
share-of = { $delivered } de { $all }
nothing-sent = nada enviado
hook-working = Funciona
hook-failing = Falla
hook-breaker = Disyuntor abierto
hook-off = Apagado
hook-working-what = El último intento salió bien, o aún no hubo ninguno.
hook-failing-what = { $count_n ->
    [one] El último intento falló. Lo que espera se reintenta, cada vez tras una pausa más larga; una prueba no.
   *[other] Los últimos { $count } intentos fallaron. Lo que espera se reintenta, cada vez tras una pausa más larga; una prueba no.
}
hook-breaker-what = Los últimos { $count } intentos fallaron. Hasta que uno salga bien, las entregas salen de a una, con pausas de hasta 5 minutos; eso no les cuesta ningún intento.
hook-off-owner = Pausado aquí o por la API. Lo que pasa se guarda, y se envía cuando lo enciendes y lo pides.
hook-off-gone = El receptor respondió 410: no quiere nada más. Lo que pasa se guarda.
hook-off-failing = Nada salió bien durante cinco días. Lo que pasa se guarda, y se envía cuando lo enciendes y lo pides.
webhook-new = Agregar un webhook
webhook-create = Agregar webhook
webhook-url-help = Empieza con https:// y se alcanza desde Internet. Si el receptor rechaza una petición, el motivo aparece en sus entregas.
webhook-url-bad = Esta dirección no se puede usar: { $reason ->
    [not_https] no empieza con https://
    [private_host] lleva a un servidor privado, local o reservado
    [credentials_in_url] contiene un usuario o una contraseña
    [port_not_allowed] su puerto es de otro protocolo
   *[malformed] no está escrita simplemente como https://, un servidor y, si acaso, un puerto, una ruta y una consulta; sin espacios, barras invertidas ni una parte después de #
}.
webhook-which = Qué se envía
which-all = Todo: los { $count } eventos del catálogo, y lo que esté marcado además
which-some = Solo lo marcado abajo
webhook-some-none = Marca al menos un evento, o elige todo.
webhook-limit = Ya hay 16 webhooks, que es el límite. Borra uno antes.
hook-once = Copia ahora el secreto de firma
hook-once-warning = Es la única vez que se muestra. Con él tu receptor sabe que una petición viene de aquí. Si lo pierdes, rótalo.
hook-once-label = El secreto de firma
hook-once-check = Comprueba cada petición con él, por ejemplo en Python; los otros lenguajes están abajo, en la página de todos los webhooks:
hook-once-saved = Ya lo guardé
hook-rotated-warning = Es la única vez que se muestra. Hasta el { $at } las peticiones se firman también con el secreto anterior.
events-title = Los { $count } eventos, y los que van por nombre
events-about = «Todo» es el catálogo, que son los primeros { $count }. Los demás se envían a quien los marca.
receivers-title = Cómo un receptor comprueba una firma
receivers-about = Cada petición lleva un HMAC-SHA256 de su hora y su cuerpo. Compáralo en tiempo constante, rechaza lo que tiene más de cinco minutos y responde 2xx en diez segundos; lo que ya procesaste llega con el mismo id de entrega.
how-webhooks = Las entregas de las últimas 24 horas a las que el receptor respondió con 2xx, de todas las que había que enviarle en ese tiempo y que salieron bien o fallaron del todo. Si hubo más de { $most } a todas las direcciones, cuentan las { $most } más nuevas.
hook-waiting = Por enviar
hook-fired = Intentos hasta ahora
hook-failed = Intentos fallidos
deliveries-title = Entregas, las más nuevas primero
deliveries-followed = Entregas, las más nuevas primero, releídas cada tres segundos hasta las { $at }
follow = Seguir en vivo
follow-no = no
follow-yes = durante diez minutos
follow-stop = Dejar de seguir
deliveries-none = No se envió nada que coincida. Manda una prueba, o limpia los filtros.
deliveries-none-yet = Ninguna de las entregas que se miraron coincide. La página siguiente mira las anteriores.
delivery-event = Evento
delivery-state = Estado
delivery-answer = Respuesta
delivery-attempts = Intentos
delivery-next = Próximo intento
delivery-created = Hora
delivery-of = { $made } de { $all }
delivery-pending = Por enviar
delivery-retrying = Reintentando
delivery-held = Retenida
delivery-delivered = Entregada
delivery-failed = Fallida
delivery-canceled = Cancelada
no-answer = sin respuesta
how-deliveries = Una entrega es un evento a una dirección. Se intenta ocho veces en unas 28 horas: tras 5 segundos, 5 minutos, 30 minutos, 2, 5, 10 y 10 horas. Las entregas se guardan tres meses.
filter = Filtrar
filter-clear = Limpiar
any = Todos
from = Desde
to = Hasta
test-title = Enviar una prueba
test-about = Un ejemplo del evento se envía al instante, aunque el webhook no lo pida, y no se reintenta.
test-send = Enviar prueba
pause-title = Pausarlo
pause-about = Lo que pase mientras tanto se guarda, y se puede enviar cuando lo enciendas de nuevo.
pause = Pausar
resume-title = Encenderlo
resume-about = Desde entonces lo que pasa se envía de nuevo. Lo retenido también puede salir, lo más viejo primero.
resume = Encender
resume-held = Encender y enviar lo retenido
rotate-title = Rotar el secreto
rotate-about = Un secreto nuevo rige al instante. Durante el solapamiento las peticiones se firman con ambos. Solo se guarda un secreto anterior: si lo rotas otra vez, el de antes termina en el acto.
rotate-secret = Rotar secreto
overlap = El anterior firma también
replay-title = Reenviar un período
replay-about = Envía de nuevo las entregas de un período, con los mismos ids. Primero ves cuántas son.
replay-count = Contarlas
replay-which = Cuáles
replay-failed-only = Las que fallaron
replay-everything = Todas, también las entregadas
replay-counted = { $count_n ->
    [0] No hay ninguna en este período.
    [one] Se enviaría de nuevo { $count } entrega.
   *[other] Se enviarían de nuevo { $count } entregas, las más viejas primero.
}
replay-period = Del { $first } al { $last }.
replay-start = Enviarlas de nuevo
replay-started = { $count_n ->
    [one] El reenvío empezó: sale { $count } entrega.
   *[other] El reenvío empezó: salen { $count } entregas, las más viejas primero.
}
replay-running = Ya hay un reenvío en curso: uno a la vez por webhook, tres por tienda. Inténtalo cuando termine.
delete-title = Borrar el webhook
delete-about = No se envía nada más ahí, para siempre. Lo que espera se cancela; lo enviado queda en el registro hasta cumplir tres meses.
delete = Borrar webhook
hook-deleted = Webhook borrado.
hook-paused = Está pausado.
hook-resumed = Está encendido.
hook-sent-before = Este formulario ya se había enviado. El secreto que creó se mostró entonces, esa única vez: si no lo guardaste, rótalo.
delivery-attempt = Intento
delivery-where = En qué se fue el tiempo (ms)
delivery-total = Total (ms)
delivery-answered = Qué se respondió
delivery-about-next = El próximo intento: { $at }.
delivery-about-done = Salió bien: { $at }.
delivery-about-failed = Todos los intentos fueron en vano, el último: { $at }.
delivery-about-held = Espera a que se encienda el webhook.
delivery-about-canceled = El webhook se borró antes de enviarla.
delivery-about-underway = Se está enviando en este momento.
attempts-title = Intentos
attempts-none = Aún no hubo ningún intento.
how-attempts = Los tiempos son nuestros: servicio de nombres, conexión, saludo TLS y hasta el primer byte de la respuesta. Una conexión mantenida ya no necesita los tres primeros. De una respuesta se guardan los primeros 16 KiB.
phase-dns = DNS { $ms }
phase-connect = conexión { $ms }
phase-tls = TLS { $ms }
phase-first-byte = primer byte { $ms }
phase-vain = sin respuesta en { $ms }
attempt-url_refused = A esta dirección no se puede enviar
attempt-name_not_resolved = El nombre del servidor no se conoce
attempt-address_refused = El servidor está en una dirección a la que no se puede enviar
attempt-connection_refused = Nada escucha ahí
attempt-connection_failed = No se llega al servidor
attempt-tls_failed = No se logró una conexión segura
attempt-connection_closed = El receptor cortó sin responder
attempt-invalid_answer = Lo que llegó no es HTTP
attempt-timed_out = No hubo respuesta a tiempo
redirected = Apuntaba a { $to }, que no se sigue
sent-title = Qué se envió
sent-size = application/json, { $bytes_n ->
    [one] { $bytes } byte
   *[other] { $bytes } bytes
}
sent-headers = Encabezados y firma
sent-headers-note = Los del último intento, firmados con el secreto de hoy: tras una rotación, un intento anterior llevaba otros.
resend-title = Enviarla de nuevo
resend-about = Sale al instante con el mismo id y todos sus intentos por delante. Un receptor que ya la procesó debería reconocerla por el id.
resend = Reenviar ahora
resent = Está de nuevo en camino.
event-purchase-created = Se acreditó un pago
event-credits-low = Un consumo dejó el saldo bajo
event-credits-depleted = Un consumo dejó el saldo en cero
event-credits-recharged = Se hizo una recarga
event-alert-fired = Se cruzó el umbral de una alerta
event-anomaly-detected = Una métrica salió de su rango esperado
event-usage-threshold_crossed = El costo de IA del mes cruzó un umbral
event-ai-paused = La IA se pausó
event-ai-resumed = La IA se reanudó
event-integration-connected = Se conectó una tienda, cuenta publicitaria o perfil
event-integration-revoked = Terminó el permiso de una tienda
event-subscription-activated = Se activó o reactivó una suscripción
event-social-auto_reply_sent = Se respondió un comentario con una plantilla aprobada
event-credit-consumed = Se consumieron créditos
event-credit-refunded = Se devolvieron créditos
event-integration-disconnected = Se desconectó una tienda, cuenta publicitaria o perfil
event-integration-broken = Una tienda dejó de responder
event-creative-winner-detected = Un anuncio se destacó
event-inventory-low_stock = Un producto se está agotando
