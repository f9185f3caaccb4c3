# One event, told once: what was seen on the day that departed most, what it was worth, what was normal, and whether it is over.

insight-story =
    .title = { $what ->
        [closed_day] No se vendió nada { $day_on }
        [platform] { $direction ->
            [down] { platform } vendió mucho menos de lo normal { $day_on }
           *[up] { platform } vendió mucho más de lo normal { $day_on }
        }
        [country] { $direction ->
            [down] Pedidos { $part_from } muy por debajo de lo normal { $day_on }
           *[up] Pedidos { $part_from } muy por encima de lo normal { $day_on }
        }
        [product] { $direction ->
            [down] { $part } vendió mucho menos de lo normal { $day_on }
           *[up] { $part } vendió mucho más de lo normal { $day_on }
        }
        [stock_out] { $state ->
            [over] { $part } estuvo sin stock { $day_on }
           *[other] { $part } está sin stock
        }
        [campaign] { $direction ->
            [down] Gasto en la campaña { $part } muy por debajo de lo normal { $day_on }
           *[up] Gasto en la campaña { $part } muy por encima de lo normal { $day_on }
        }
        [ads] { $direction ->
            [down] Gasto en anuncios muy por debajo de lo normal { $day_on }
           *[up] Gasto en anuncios muy por encima de lo normal { $day_on }
        }
        [paid_campaign] Más anuncios y muchas más ventas de lo normal { $day_on }
        [paid_ads] Más anuncios y muchas más ventas de lo normal { $day_on }
        [price] { $direction ->
            [down] Precios muy por debajo de lo normal { $day_on }
           *[up] Precios muy por encima de lo normal { $day_on }
        }
        [bulk_order] { $direction ->
            [down] Pedidos mucho más pequeños de lo normal { $day_on }
           *[up] Pedidos mucho más grandes de lo normal { $day_on }
        }
        [traffic] { $direction ->
            [down] Muchas menos visitas de lo normal { $day_on }
           *[up] Muchas más visitas de lo normal { $day_on }
        }
        [conversion] { $direction ->
            [down] Compraron muchos menos visitantes de lo normal { $day_on }
           *[up] Compraron muchos más visitantes de lo normal { $day_on }
        }
        [tracking] { $direction ->
            [down] Quedaron visitas sin contar { $day_on }
           *[up] Se contaron visitas de más { $day_on }
        }
        [refunded_product] { $direction ->
            [down] Reembolsos de { $part } muy por debajo de lo normal { $day_on }
           *[up] Reembolsos de { $part } muy por encima de lo normal { $day_on }
        }
        [refund] { $direction ->
            [down] Reembolsos muy por debajo de lo normal { $day_on }
           *[up] Reembolsos muy por encima de lo normal { $day_on }
        }
        [cost] { $direction ->
            [down] Cada unidad costó mucho menos de lo normal { $day_on }
           *[up] Cada unidad costó mucho más de lo normal { $day_on }
        }
        [expense] { $direction ->
            [down] Gastos muy por debajo de lo normal { $day_on }
           *[up] Gastos muy por encima de lo normal { $day_on }
        }
        [profit] { $direction ->
            [down] Ganancia muy por debajo de lo normal { $day_on }
           *[up] Ganancia muy por encima de lo normal { $day_on }
        }
       *[sales] { $direction ->
            [down] Ventas muy por debajo de lo normal { $day_on }
           *[up] Ventas muy por encima de lo normal { $day_on }
        }
    }
    .body = { $what ->
        [closed_day] No se vendió nada { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected } pedido.
               *[other] serían unos { $expected } pedidos.
            }
        [platform] { $observed_n ->
            [0] { platform } no vendió nada { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected } pedido.
               *[other] serían unos { $expected } pedidos.
            }
            [one] { platform } tuvo { $observed } pedido { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
           *[other] { platform } tuvo { $observed } pedidos { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
        }
        [country] { $observed_n ->
            [0] No llegó ningún pedido { $part_from } { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
            [one] Llegó { $observed } pedido { $part_from } { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
           *[other] Llegaron { $observed } pedidos { $part_from } { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
        }
        [product] { $observed_n ->
            [0] { $part } no vendió nada { $day_on }; lo normal serían unos { $expected }.
           *[other] { $part } vendió { $observed } { $day_on }; lo normal serían unos { $expected }.
        }
        [stock_out] { $observed_n ->
            [0] Sin stock, { $part } no vendió nada { $day_on }; lo normal serían unos { $expected }.
           *[other] Sin stock, { $part } vendió { $observed } { $day_on }; lo normal serían unos { $expected }.
        }
        [campaign] { $observed_n ->
            [0] No gastaste nada en la campaña { $part } { $day_on }; lo normal serían unos { $expected }.
           *[other] Gastaste { $observed } en la campaña { $part } { $day_on }; lo normal serían unos { $expected }.
        }
        [ads] { $observed_n ->
            [0] No gastaste nada en anuncios { $day_on }; lo normal serían unos { $expected }.
           *[other] Gastaste { $observed } en anuncios { $day_on }; lo normal serían unos { $expected }.
        }
        [paid_campaign] Vendiste { $observed } { $day_on }; lo normal serían unos { $expected }. También se gastó más de lo normal en la campaña { $part }.
        [paid_ads] Vendiste { $observed } { $day_on }; lo normal serían unos { $expected }. También se gastó más de lo normal en anuncios.
        [price] La unidad promedio se vendió a { $observed } { $day_on }; lo normal serían unos { $expected }.
        [bulk_order] Vendiste { $observed } { $day_on }; lo normal serían unos { $expected }. Algunos pedidos fueron mucho más grandes que los demás.
        [traffic] { $observed_n ->
            [0] No hubo visitas { $day_on }; lo normal serían unas { $expected }.
            [one] Hubo { $observed } visita { $day_on }; lo normal serían unas { $expected }.
           *[other] Hubo { $observed } visitas { $day_on }; lo normal serían unas { $expected }.
        }
        [conversion] { $observed_n ->
            [0] No llegó ningún pedido { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
            [one] Llegó { $observed } pedido { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
           *[other] Llegaron { $observed } pedidos { $day_on }; lo normal { $expected_n ->
                [one] sería { $expected }.
               *[other] serían unos { $expected }.
            }
        }
        [tracking] { $observed_n ->
            [0] No se contó ninguna visita { $day_on }; lo normal serían unas { $expected }.
            [one] Se contó { $observed } visita { $day_on }; lo normal serían unas { $expected }.
           *[other] Se contaron { $observed } visitas { $day_on }; lo normal serían unas { $expected }.
        }
        [refunded_product] { $observed_n ->
            [0] No reembolsaste nada de { $part } { $day_on }; lo normal serían unos { $expected }.
           *[other] Reembolsaste { $observed } de { $part } { $day_on }; lo normal serían unos { $expected }.
        }
        [refund] { $observed_n ->
            [0] No reembolsaste nada { $day_on }; lo normal serían unos { $expected }.
           *[other] Reembolsaste { $observed } { $day_on }; lo normal serían unos { $expected }.
        }
        [cost] Mercadería, comisiones y envío sumaron { $observed } por unidad { $day_on }; lo normal serían unos { $expected }.
        [expense] { $observed_n ->
            [0] No se cargaron otros gastos para el { $day }; lo normal serían unos { $expected }.
           *[other] Los otros gastos del { $day } sumaron { $observed }; lo normal serían unos { $expected }.
        }
        [profit] La ganancia fue de { $observed } { $day_on }; lo normal serían unos { $expected }. Las ventas fueron más o menos normales.
       *[sales] Vendiste { $observed } { $day_on }; lo normal serían unos { $expected }. Los datos no dicen por qué.
    }{ $has_share ->
        [yes] {" "}Eso es el { $share } de la diferencia (confianza: { $confidence }).
       *[no] {""}
    }{ $record ->
        [year] {" "}Fue el mejor día en un año.
        [ever] {" "}Fue el mejor día hasta ahora.
       *[none] {""}
    }{ $normal ->
        [others] {" "}Todo lo demás junto estuvo en su nivel normal.
        [visitors] {" "}Las visitas estuvieron en su nivel normal.
        [orders] {" "}La cantidad de pedidos fue normal.
       *[unknown] {""}
    }{ $money ->
        [less_profit] { $days_n ->
            [one] {" "}Son unos { $amount } menos de ganancia que lo normal (de { $least } a { $most }).
           *[other] {" "}En { $days } días son unos { $amount } menos de ganancia que lo normal (de { $least } a { $most }).
        }
        [more_profit] { $days_n ->
            [one] {" "}Son unos { $amount } más de ganancia que lo normal (de { $least } a { $most }).
           *[other] {" "}En { $days } días son unos { $amount } más de ganancia que lo normal (de { $least } a { $most }).
        }
        [less_sales] { $days_n ->
            [one] {" "}Son unos { $amount } menos en ventas que lo normal (de { $least } a { $most }).
           *[other] {" "}En { $days } días son unos { $amount } menos en ventas que lo normal (de { $least } a { $most }).
        }
        [more_sales] { $days_n ->
            [one] {" "}Son unos { $amount } más en ventas que lo normal (de { $least } a { $most }).
           *[other] {" "}En { $days } días son unos { $amount } más en ventas que lo normal (de { $least } a { $most }).
        }
       *[none] {""}
    }{ $has_returned ->
        [yes] {" "}Ya se descontaron unos { $returned } (estimados) de toda la mercadería devuelta.
       *[no] {""}
    }{ $state ->
        [open] {" "}Termina cuando { $back ->
            [stock] vuelva a haber stock de { $part }.
            [visits] se vuelvan a contar las visitas como siempre.
            [low] la cifra diaria vuelva a ser de { $low } o más.
            [high] la cifra diaria vuelva a ser de { $high } o menos.
           *[normal] los días vuelvan a lo normal.
        }
        [goes_on] {" "}Sigue desde el { $first } y termina cuando { $back ->
            [stock] vuelva a haber stock de { $part }.
            [visits] se vuelvan a contar las visitas como siempre.
            [low] la cifra diaria vuelva a ser de { $low } o más.
            [high] la cifra diaria vuelva a ser de { $high } o menos.
           *[normal] los días vuelvan a lo normal.
        }
        [usual] {" "}Sigue desde el { $first } y ya cuenta como lo normal.
       *[over] { $back ->
            [stock] {" "}Ya terminó: { $since_on } volvió a haber stock.
           *[other] {" "}Ya terminó: { $since_on } esto volvió a lo normal.
        }
    }
    .action = { $action ->
        [check_checkout] { $what ->
            [platform] Haz un pedido de prueba { on-platform } y revisa su checkout y los pagos.
            [country] Haz un pedido de prueba con una dirección { $part_from } y revisa allí los pagos y el envío.
           *[other] Haz un pedido de prueba y revisa el checkout y los pagos.
        }
        [check_shop] Revisa que la tienda esté abierta y reciba pedidos.
        [check_prices] Revisa los últimos precios que se cambiaron.
        [check_refunds] { $what ->
            [refunded_product] Mira qué escribieron los compradores de { $part }, su descripción y su última entrega.
           *[other] Mira qué productos se reembolsaron y qué escribieron sus compradores.
        }
        [check_tracking] Revisa el código que cuenta las visitas, en cada página de la tienda.
        [check_traffic_sources] Revisa de dónde llegan las visitas: anuncios, búsquedas y correos.
        [pause_campaign] { $what ->
            [campaign] Pausa la campaña { $part } o baja su presupuesto hasta que rinda.
            [paid_campaign] Pausa la campaña { $part } o baja su presupuesto hasta que rinda.
           *[other] Busca la campaña que gasta más y páusala o baja su presupuesto.
        }
        [keep_campaign] { $what ->
            [paid_campaign] Mantén la campaña { $part } y sube su presupuesto de a poco mientras rinda.
           *[other] Busca la campaña que trajo las ventas y sube su presupuesto de a poco mientras rinda.
        }
        [reorder] Repón { $part } hoy o sácalo de la tienda hasta que vuelva.
        [serve_bulk_buyer] Mira los pedidos más grandes, revisa el stock para ellos y sigue en contacto con sus compradores.
        [compare_costs] Compara los costos de mercadería, comisiones y envío con los de los días anteriores.
        [check_expenses] Revisa los gastos del { $day }: puede haber alguno repetido o que corresponda también a otros días.
        [check_product] Revisa la página, el precio y el stock de { $part }.
        [keep_in_stock] Revisa que el stock de { $part } alcance y muéstralo en más lugares.
        [repeat_it] Busca qué fue distinto { $day_on } y repítelo.
        [ask_supplier] Hay unidades de { $part } en camino: pregunta al proveedor cuándo llegan y dilo en la tienda.
        [check_ads] Revisa si los anuncios se pararon a propósito y cómo se pagan.
        [prevent_it] Ya volvió a lo normal. Asegúrate de que no vuelva a pasar.
       *[look_at_the_day] Revisa qué fue distinto { $day_on }: la tienda, los precios, el stock y los anuncios.
    }
    .impact = { $money ->
        [less_profit] { $amount } menos de ganancia que lo normal
        [more_profit] { $amount } más de ganancia que lo normal
        [less_sales] { $amount } menos en ventas que lo normal
        [more_sales] { $amount } más en ventas que lo normal
       *[none] No se pierden ventas, pero las visitas y la conversión no son de fiar
    }

insight-weekly-digest =
    .title = Tu semana del { $first } al { $last }
    .body = Ventas menos reembolsos: { $net_revenue } (antes: { $net_revenue_before }). Pedidos: { $orders } ({ $orders_before }). Ganancia: { $profit } ({ $profit_before }). Anuncios: { $ad_spend } ({ $ad_spend_before }). Clientes nuevos: { $new_customers } ({ $new_customers_before }).{ $happened ->
        [yes] {" "}Lo que se destacó: { $stories }.
       *[no] {" "}Ningún hecho aislado se destacó.
    }
    .action = { $has_todo ->
        [yes] { $todo }
       *[no] Revisa lo que está pendiente.
    }
    .impact = { $profit } de ganancia en la semana

insight-record-day =
    .title = { $reach ->
        [year] Tu mejor día en un año fue el { $day }
       *[ever] Tu mejor día hasta ahora fue el { $day }
    }
    .body = Vendiste { $sales } { $day_on }, { $orders_n ->
        [one] en { $orders } pedido
       *[other] en { $orders } pedidos
    }. El mejor día anterior fue el { $record_day }, con { $record }.
    .action = Busca qué fue distinto { $day_on } y repítelo.
    .impact = { $sales } en un día

insight-profit-rose =
    .title = La ganancia subió en los últimos { $days } días
    .body = En los últimos { $days } días la ganancia fue de { $profit }, frente a { $profit_before } en los { $days } días anteriores. Los ingresos netos pasaron de { $net_revenue_before } a { $net_revenue }, y todos los costos juntos, de { $costs_before } a { $costs }.{ $has_returned ->
        [yes] {" "}De estos costos se descontó una estimación de { $returned } por productos devueltos.
       *[no] {""}
    }
    .action = Mira qué productos y canales vendieron más y dales más lugar.
    .impact = { $gained } más de ganancia en { $days } días
