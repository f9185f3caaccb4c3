# Lo que comparten todas las páginas. $x es una cifra ya escrita, $x_n su número, por el que se elige la forma de una palabra.

skip = Ir al contenido
menu = Menú
main = Principal
shop = Tienda
connections = Conexiones
overview = Resumen
profit = Ganancia
insights = Novedades
reorder = Reposición
anomalies = Anomalías
stock = Stock
customers = Clientes
data = Datos
webhooks = Webhooks
keys = Claves de API
credits = Créditos
live-shop = Tienda real
test-shop = Tienda de prueba
to-test = Pasar a la de prueba
to-live = Pasar a la real
settings = Ajustes
log-out = Salir

copy = Copiar
copied = Copiado
keyboard = Teclado
keys-title = Teclas
keys-on = Las teclas están activas
close = Cerrar
keys-chart = ← y → recorren el gráfico que tiene el foco.
keys-list = Esta lista
as-of = Actualizado: { $time }
never-computed = Aún no calculado
table = Tabla
chart-as-table = El gráfico como tabla
calculated = Cómo se calcula
column-day = Día
today-so-far = { $day } (hasta ahora)
range = { $low } a { $high }
unknown = desconocido
see-why = Ver por qué
all-of = Ver { $count }

date-short = { $date } { month-short }
date-weekday = { weekday-short } { $date } { month-short }
date-full = { $day }
date-range = { $first } – { $last } { $year }
day-of-year = { $day } { $year }
moment-day = { $day }, { $time }
points-short = { $number_n ->
    [one] { $number } punto
   *[other] { $number } puntos
}
weekday-short = { $weekday_n ->
    [1] lun
    [2] mar
    [3] mié
    [4] jue
    [5] vie
    [6] sáb
   *[7] dom
}
month-short = { $month_n ->
    [1] ene
    [2] feb
    [3] mar
    [4] abr
    [5] may
    [6] jun
    [7] jul
    [8] ago
    [9] sep
    [10] oct
    [11] nov
   *[12] dic
}

error-not-found = Esa página no existe
error-not-found-what = Puede que la dirección esté mal escrita, o que ya no haya nada ahí.
error-logged-out = No has iniciado sesión
error-logged-out-what = La sesión terminó. Abre el resumen, inicia sesión y vuelve a intentarlo.
error-forbidden = Tu rol no lo permite
error-forbidden-what = Pídele a un propietario de la cuenta que lo haga, o que cambie tu rol.
error-cross-site = La petición vino de otro sitio
error-cross-site-what = No se cambió nada. Abre la página aquí e inténtalo de nuevo.
error-other-shop = Esta página es de otra tienda
error-other-shop-what = Después de abrir esta página pasaste en otra pestaña o ventana a otra tienda, o de la real a la de prueba. No se cambió nada. Vuelve primero a esa tienda, o abre la página de nuevo.
error-unavailable = El servicio está ocupado
error-unavailable-what = No se cambió nada. Inténtalo de nuevo en un momento.
error-internal = Algo falló aquí
error-internal-what = El error quedó en nuestro registro con este número: { $request }
error-conflict = Eso cambió mientras tanto
error-conflict-what = Alguien ya decidió sobre esto, o hay algo más nuevo sobre lo mismo. No se cambió nada; vuelve y míralo de nuevo.
error-too-slow = Tardó demasiado
error-too-slow-what = El formulario no llegó en diez segundos. No se cambió nada; envíalo otra vez.
error-too-large = Ese archivo es demasiado grande
error-too-large-what = Un archivo puede tener hasta 200 MB, comprimido con gzip o no. No se guardó nada; divídelo e importa las partes.
error-too-many-files = Demasiados archivos en espera
error-too-many-files-what = Veinte archivos esperan a ser importados, o los archivos y las líneas rechazadas ocupan 4 GB. Importa algunos, o descártalos, antes de otro; las líneas rechazadas se borran a los 30 días.
error-too-many-requests = Demasiadas peticiones
error-too-many-requests-what = En el último minuto se pidió más de lo que el servicio admite de una persona. No se cambió nada; espera un minuto e inténtalo de nuevo.
error-invalid = Eso no se puede leer
error-invalid-what = Falta un valor o no es uno posible. Vuelve y corrígelo.
invalid-file = Elige un archivo que no esté vacío.
invalid-days = Falta una fecha o no es válida, o la primera es posterior a la última. Vuelve y corrígelo.
invalid-note = Una nota necesita un texto, y que no sea demasiado largo. Vuelve y corrígelo.
invalid-customer = No hay ningún cliente con ese número. Vuelve y corrígelo.
try-again = Intentar de nuevo
to-overview = Al resumen
search-go = Buscar
found-title = Lo que empieza con «{ $text }»
found-none = Nada empieza con eso. Prueba con un texto más corto.
