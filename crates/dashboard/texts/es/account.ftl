# Los ajustes de una tienda, y de quien la mira.
account = Cuenta
you = Tú
your-name = Tu nombre
your-name-bad = Escribe un nombre de 1 a 100 caracteres.
your-language = Idioma de estas páginas
your-theme = Colores
language-of-shop = El de la tienda
theme-system = Como el dispositivo
theme-light = Claro
theme-dark = Oscuro
save = Guardar
saved = Guardado.
shop-title = La tienda
shop-currency = Todos los importes están en { $currency }. Una tienda conserva su moneda.
shop-plan = Plan: { $plan }.
plan-free = gratis
plan-starter = Starter
plan-pro = Pro
plan-scale = Scale
shop-owners = Esto lo cambian los propietarios.
shop-zone-is = Los días empiezan y terminan en { $zone }.
shop-costs-are = Si un pedido no dice lo que costó: una comisión de { $rate } y { $fixed } { $currency }, { $shipping } { $currency } de envío, y mercadería por { $cogs } de los ingresos.
zone-cuts = Marca cuándo empieza y termina cada día. Si la cambias, todos los días se vuelven a calcular.
shop-language = Idioma de los textos
shop-country = Números y fechas como en
shop-country-help = Por ejemplo, 1.234,56 en Argentina y 1,234.56 en México.
country-usual = Como es usual en el idioma
shop-holidays = Feriados de
shop-holidays-help = En esos días no se buscan anomalías, y no cuentan para saber qué es normal.
holidays-none = Ningún país
fee-rate = Comisión, % de los ingresos
fee-rate-help = Si la tienda no indica lo que costó un pedido.
fee-fixed = Comisión por pedido
shipping-per-order = Envío de cada pedido
shipping-help = Si no se indica.
cogs-ratio = Costo de la mercadería, % de los ingresos
cogs-help = Si no se conoce el costo del producto ni el de su categoría.
choose-one = Elige uno de la lista.
share-wrong = Escribe un porcentaje de 0 a 100, con tres decimales como mucho.
amount-wrong = Escribe un importe de 0 o más, con seis decimales como mucho.
elsewhere = Más ajustes
action-account-changed = Cambió la cuenta

export = Exportar
export-what = Un archivo con todo lo que tiene la cuenta: pedidos, clientes, productos, cifras, ajustes, entregas, créditos, la actividad. Es NDJSON comprimido con gzip, una fila por línea con la tabla a la que pertenece. Los secretos, como claves y contraseñas, no están.
export-kept = Se puede descargar durante { $days } días.
export-go = Crear un archivo
export-leave = El archivo se está creando. Puedes dejar la página; sigue solo.
exports = Archivos
export-of = Solicitado: { $time }
export-queued = Espera su turno.
export-running = { $rows } filas hasta ahora.
export-done = { $rows } filas, { $size }, listo desde { $time }.
export-failed = Algo salió mal en el servicio ({ $time }). Pídelo de nuevo.
export-fetch = Descargar el archivo de { $time }
action-export-requested = Pidió una exportación
action-export-fetched = Descargó una exportación

erase = Eliminar la cuenta
erase-what = Se eliminan la tienda real y la de prueba de { $shop }, con todo lo que tienen, y con las personas que no pertenecen a otra tienda. De los créditos quedan los importes para la contabilidad, sin nombre.
erase-now = Las claves y las sesiones de todos terminan en el acto.
erase-undo-for = Durante { $days } días un propietario puede entrar y deshacerlo. Después no se recupera nada.
erase-export = Antes, llévate un archivo con todo
erase-name = Escribe el nombre de la tienda
erase-name-wrong = Ese no es el nombre de la tienda. No se cambió nada.
erase-go = Eliminar la cuenta
erase-coming = La cuenta se elimina el { $day } a las { $time }. Hasta entonces puedes deshacerlo.
erase-ended = Las claves de API que dejaron de funcionar no vuelven: crea otras.
erase-undo = Conservar la cuenta
erase-asked = La cuenta se elimina el { $day }. Hasta entonces un propietario puede entrar y conservarla. Se cerró la sesión de todos.
erase-notice = Esta cuenta se elimina el { $day }. Conservarla
action-erasure-requested = Pidió eliminar la cuenta
action-erasure-undone = Conservó la cuenta
action-customer-data-fetched = Descargó los datos de un cliente
action-customer-forgotten = Borró los datos de un cliente

system = Sistema
job-late = Retraso
job-on-time = A tiempo
job-behind = { $hours_n ->
    [one] { $hours } hora de retraso
   *[other] { $hours } horas de retraso
}
how-late = Cada tarea corre para cada día de la cuenta, poco después de que empieza. Desde entonces y hasta que termina está atrasada.
queues-title = Lo que espera
queue = Cola
queue-waiting = Esperan
queue-since = Pendiente desde
queue-deliveries = Entregas a webhooks
queue-held = Entregas de webhooks apagados
queue-inbox = Avisos de plataformas
queue-uploads = Archivos por importar
queue-exports = Archivos por exportar
queue-top_ups = Recargas automáticas
how-queues = Lo que espera de esta cuenta. Se atiende en segundos; un reintento espera su hora. De cada webhook se cuentan hasta { $most } entregas.
versions-title = Versiones
version-of = Parte
version = Versión
version-program = Servicio
version-schema = Esquema de la base de datos
version-database = PostgreSQL
how-versions = La versión del servicio, la migración más nueva de su base de datos, y lo que la base de datos dice de sí misma.

# Notas de los días.
notes-title = Notas
notes-none = Nadie escribió nada sobre este día.
note = Nota
note-write = Escribir una nota
note-help = Lo que todos deberían saber de este día, en una línea de { $most } caracteres como mucho. Se muestra en el gráfico del resumen.
note-save = Guardar nota
note-by = { $name }, { $time }
note-remove = Quitar «{ $text }»
note-and-more = { $text } (+{ $count })
note-mark = { $text }: nota del { $day }
your-shops = Tus tiendas
shop-here = { $role } · la que estás mirando
shop-go = Ir a { $shop }
key-made-by = Creada por
action-key-made = Creó una clave
action-key-rotated = Rotó una clave
action-key-revoked = Revocó una clave
action-reorder-decided = Decidió sobre una reposición

# De qué trata la actividad.
activity-about = Sobre
activity-sandbox = Tienda de prueba
activity-none = No se hizo nada que corresponda.
noted-field = { $field ->
    [role] rol
    [scopes] permisos
    [template_id] plantilla
    [status] estado
    [handling] quién responde
    [correct] correcto
    [channel] canal
    [platform] plataforma
    [kind] tipo de archivo
    [text] texto
    [events] eventos
    [active] activo
    [since] desde
    [until] hasta
    [states] estados
    [deliveries] entregas
    [name] nombre
    [metric] vigila
    [comparator] se dispara cuando está
    [threshold] umbral
    [window_hours] en cuántas horas
    [severity] gravedad
    [cooldown_hours] silencio tras dispararse, horas
    [enabled] activado
    [top_up_amount] compra
    [monthly_cap] como máximo en un mes
    [mode] modo
    [hours] horario de atención
    [per_user_day] respuestas a una persona por día
    [per_post_hour] respuestas en una publicación por hora
    [per_account_hour] respuestas por hora en total
    [categories_auto] se responde automáticamente
    [opt_out_words] palabras con que las personas piden que no las molesten
    [own_hosts] sitios a los que pueden llevar las respuestas
    [link] enlace
    [model_vote] segunda opinión de un modelo de lenguaje
    [zone] zona horaria
    [language] idioma
    [country] números y fechas como en
    [holidays] feriados de
    [fee_rate] comisión, % de los ingresos
    [fee_fixed] comisión, parte fija
    [shipping] envío de un pedido
    [cogs] costo de mercadería, % de los ingresos
   *[other] { $name }
}
area-access = Accesos
area-people = Personas
area-account = Cuenta
area-keys = Claves de API
area-webhooks = Webhooks
area-alerts = Alertas
area-integrations = Tiendas conectadas
area-data = Archivos y cálculo
area-decisions = Decisiones y notas
area-credits = Créditos
area-conversations = Conversaciones
action-insight-decided = Decidió sobre una novedad
action-note-written = Escribió una nota sobre
action-note-removed = Quitó una nota sobre
action-webhook-made = Agregó un webhook
action-webhook-changed = Cambió un webhook
action-webhook-deleted = Borró un webhook
action-webhook-secret-rotated = Rotó el secreto de un webhook
action-webhook-tested = Envió una muestra a un webhook
action-delivery-resent = Reenvió una entrega
action-deliveries-replayed = Reenvió las entregas de un período
action-alert-made = Creó una alerta
action-alert-changed = Cambió una alerta
action-alert-muted = Silenció una alerta
action-alert-unmuted = Volvió a encender una alerta
action-alert-deleted = Borró una alerta
action-shop-connected = Conectó una tienda
action-shop-sync-requested = Hizo leer una tienda
action-shop-disconnected = Desconectó una tienda
action-profile-connected = Conectó un perfil
action-profile-disconnected = Desconectó un perfil
action-import-started = Importó un archivo
action-upload-discarded = Descartó un archivo
action-jobs-requested = Hizo calcular todo
action-insights-requested = Hizo generar las novedades
action-auto-topup-changed = Cambió la recarga automática
action-checkout-opened = Abrió una compra de créditos
