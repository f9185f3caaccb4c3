# Why a line of a file is refused.

refused-too-long = la línea es demasiado larga
refused-open-quote = falta cerrar unas comillas
refused-behind-quote = hay texto después de unas comillas de cierre
refused-zero = contiene el carácter U+0000
refused-not-utf-8 = no es UTF-8; prueba con --latin1
refused-columns = tiene { $found } columnas en lugar de { $expected }
refused-with = se rechazó la línea { $line }, del mismo pedido
refused-above-it = líneas anteriores del pedido { $order } que se rechazaron con ella: { $count }; vuelve a importarlas todas
refused-order-apart = la primera línea de su pedido, la que tiene el total, no está encima o se rechazó
refused-unknown-sku = ningún producto tiene este SKU
refused-synced = { $name } está conectado y ya informó del { $date }; un archivo no puede cambiarlo
refused-amount = la cantidad por el precio es 10^12 o más

# Of a field.
refused-empty = { $field } está vacío
refused-creative-without-ad = { $field } está vacío, pero hay una creatividad
refused-characters = { $field } tiene más de { $most } caracteres
refused-rounded = { $field } fue redondeado por una hoja de cálculo; toma el número de la exportación original
refused-formula-error = { $field } es el error de una fórmula; toma el valor de la exportación original
refused-one-of = { $field } no es ninguno de { $allowed }
refused-currency = { $field } no es un código ISO 4217, como USD
refused-other-currency = { $field } no es la moneda de la cuenta, { $currency }
refused-own-currency = { $field } es la de la propia cuenta; un tipo de cambio dice cuánto de ella vale una unidad de otra
refused-rate = { $field } tiene que ser mayor que 0 y como máximo { $most }

refused-negative = { $field } es negativo
refused-between = { $field } no está entre { $least } y { $most }
refused-not-a-number = { $field } no es un número
refused-not-whole = { $field } no es un número entero
refused-decimals-of-amount = { $field } tiene más de 6 decimales
refused-decimals-of-rate = { $field } tiene más de 10 decimales
refused-too-large = { $field } es 10^12 o más
refused-above = { $field } es mayor que 10^9
refused-ambiguous = { $by ->
    [command] { $field } puede tener miles o decimales; indica --decimal-comma, o escribe otra cantidad de decimales
   *[page] { $field } puede tener miles o decimales; indica que la coma separa los decimales, o escribe otra cantidad de decimales
}

refused-not-a-date = { $field } no es una fecha
refused-no-year = { $field } no tiene un año de cuatro cifras
refused-not-year-first = { $field } no empieza por el año
refused-no-month = { $field } no tiene un mes válido (¿el día y el mes al revés?)
refused-no-day = { $field } no tiene un día válido
refused-outside = { $field } está fuera de los años 1970 a 2100
refused-future = { $field } está en el futuro
refused-not-a-time = { $field } no tiene una hora válida
refused-not-an-offset = { $field } tiene un desfase horario desconocido; escribe Z o uno como -03:00
refused-undecided = { $by ->
    [command] { $field } puede ser día/mes o mes/día; indícalo con --date-format dmy o mdy
   *[page] { $field } puede ser día/mes o mes/día; indica cuál
}

# Why a whole file is.

file-empty = el archivo está vacío; su primera línea debe nombrar las columnas
file-no-header = la primera línea debe nombrar las columnas, pero { $why }
file-utf-16 = el archivo está en UTF-16; guárdalo en UTF-8
file-packed = es un archivo ZIP o de Excel; guárdalo como CSV
file-damaged = el archivo está dañado o incompleto; comprímelo de nuevo o súbelo sin comprimir
file-bare-returns = las líneas del archivo terminan solo con CR; guárdalo con LF o CR LF
file-too-large = descomprimido, el archivo ocupa más de { $most } GB; divídelo, con todas las líneas de un pedido en la misma parte
file-refused-orders = más de { $most } pedidos tienen una línea que no se puede tomar; corrige el archivo o indica cómo se lee
file-refused-lines = más de { $most } MB de sus líneas no se pueden tomar; corrige el archivo o indica cómo se lee
file-columns = el archivo tiene { $found } columnas; puede tener hasta { $most }
file-no-column = no hay ninguna columna `{ $column }` (columnas: { $columns })
file-unknown-field = --map no conoce el campo `{ $name }` (campos: { $fields })
file-missing-columns = { $by ->
    [command] ninguna columna para { $missing }; el archivo tiene las columnas { $columns }; indícalas con --map { $first }=COLUMNA
   *[page] ninguna columna para { $missing }; el archivo tiene las columnas { $columns }
}
file-undecided = { $by ->
    [command] las fechas pueden ser día/mes o mes/día; indícalo con --date-format dmy o mdy
   *[page] las fechas pueden ser día/mes o mes/día; indica cuál
}
