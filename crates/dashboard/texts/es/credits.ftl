credits-about = Lo que cuestan las funciones de IA se paga con créditos. Lo demás no los usa.
credits-count = { $count_n ->
    [one] { $count } crédito
    [many] { $count } de créditos
   *[other] { $count } créditos
}
credits-paid = Gracias. Los créditos se suman en cuanto la pasarela confirma el pago, casi siempre en segundos. Recarga la página para verlos.
balance-title = Saldo
balance = Créditos
days-left = Días que quedan
used-lately = { $credits } usados en los últimos { $days } días
spent-in = Gastados en { $days } días
spent-before = antes { $credits }
how-runway = Los días que quedan son el saldo dividido por lo usado por día, en el promedio de los últimos 14 días de 24 horas. Si no se usó nada, no se puede saber.
how-spent = Lo gastado es lo que tomaron las funciones de IA menos lo devuelto. Lo devuelto cuenta el día en que se devuelve. Los períodos terminan hoy.
used-title = Créditos gastados por día
line-credits = gastados
used-sum = Créditos gastados en los últimos { $days } días: { $credits }.
used-most = El día de mayor gasto fue el { $day }: { $credits }.
unused = Aún no se gastó nada
unused-what = Los créditos se gastan al usar una función de IA, como los textos de las novedades. No se usó ninguna en los últimos 90 días.
features-title = En qué se gastaron, últimos { $days } días
features-none = No se usó ninguna función de IA en este tiempo.
feature = Función
feature-share = Parte
feature-spent = Créditos gastados
feature-debits = Veces usada
feature-refunded = Devueltos
buy-title = Comprar créditos
buy-about = Pagas en la pasarela de pago; ningún número de tarjeta llega aquí. Los créditos no vencen.
buy-pack = Cuántos
buy-go = Ir al pago
buy-nothing = No hay nada en venta: aquí no hay una pasarela de pago configurada. Quien opera el servicio puede configurarla, o dar créditos.
buy-test = A la tienda de prueba no se le vende nada. Pasa a la tienda real para comprar créditos.
buy-owners = Los créditos los compran los propietarios de la cuenta.
pack-for = { $credits } por { $price }
checkout-away = La pasarela de pago no responde. No se cobró nada; inténtalo de nuevo en un momento.
pay-title = Pagar { $credits }
pay-about = La pasarela de pago en { $host } cobra { $price }. Cuando lo confirma, los créditos se suman aquí.
pay-go = Pagar { $price }
pay-not = Ahora no
auto-title = Recarga automática
auto-set = Cambiar la recarga automática
auto-about = Se cobra a la tarjeta del último pago hecho a mano. Tras tres cobros fallidos seguidos se apaga.
auto-on = Encendida: cuando quedan menos de { $threshold } créditos, se compran { $credits }.
auto-off = Apagada: cuando se acaban los créditos, las funciones de IA paran hasta que alguien compre más.
auto-cap-is = En un mes calendario (UTC) se compran como mucho { $credits }.
auto-cap-none = Cuánto se compra al mes lo limita solo el servicio.
auto-last = Última compra: { $time }.
auto-stopped = El servicio la apagó: { $reason }.
auto-stopped-otherwise = El servicio la apagó, y da este motivo en inglés:
auto-stopped-charged-back = hubo un contracargo de un pago
auto-stopped-deletion = se pidió eliminar la cuenta
auto-stopped-unknown = durante un día no se supo si se había hecho un cobro
auto-stopped-not-credited = se pagó un cobro y no se pudieron añadir los créditos ({ $reason })
auto-stopped-failed = fallaron { $count } cobros seguidos, el último porque { $reason }
auto-failed = { $count_n ->
    [one] El último cobro falló: { $reason }.
   *[other] Los últimos { $count } cobros fallaron: { $reason }.
}
charge-failure = { $code ->
    [card_declined] la tarjeta fue rechazada
    [expired_card] la tarjeta está vencida
    [insufficient_funds] la tarjeta no tiene fondos suficientes
    [declined] el pago fue rechazado
    [rejected] el pago fue rechazado
    [no_payment_method] no se conoce ninguna tarjeta de un pago hecho a mano
    [no_such_pack] no se vende ningún paquete de ese tamaño en la moneda de la cuenta
    [unknown_outcome] no se sabe si se cobró a la tarjeta
    [no_order] el pago no nombra ningún pedido de este servicio
    [unknown_account] el pago nombra una cuenta que no existe
    [sandbox_account] a la tienda de prueba no se le vende nada
    [unknown_item] el pago nombra un paquete que no está en venta
    [currency_mismatch] el pago es en otra moneda que el precio
    [amount_mismatch] el pago es por otro importe que el precio
    [other_account] el pago es de otra cuenta
   *[other] la pasarela de pago respondió “{ $code }”
}
auto-enabled = Recarga automática
auto-enabled-bad = Márcalo o no.
auto-enable = Comprar créditos cuando quedan pocos
auto-threshold = Menos de
auto-threshold-help = Créditos. Un saldo por debajo se recarga.
auto-threshold-bad = Escribe un número entero de créditos de 1 a { $limit }.
auto-amount = Comprar
auto-amount-bad = Elige uno de los paquetes.
auto-cap = Como mucho al mes
auto-cap-help = Créditos en un mes calendario (UTC). Déjalo vacío para el límite del servicio.
auto-cap-bad = Escribe un número entero de créditos de { $limit } a { $most }, o nada.
auto-save = Guardar
auto-saved = La recarga automática quedó guardada.
how-auto = Un cobro espera la pausa entre dos y el límite del mes. Lo que salió mal se muestra hasta que se enciende de nuevo.
ledger-title = Libro de movimientos, los más nuevos primero
ledger-none = Nada coincide. Limpia los filtros.
ledger-time = Hora
ledger-kind = Tipo
ledger-amount = Créditos
ledger-balance = Saldo después
ledger-consume = Uso
ledger-refund = Devolución
ledger-topup = Compra
ledger-auto_topup = Compra automática
ledger-grant = Regalo
ledger-adjustment = Corrección
how-ledger = Cada cambio del saldo, que nunca se altera ni se quita. El saldo es la suma de todos.
