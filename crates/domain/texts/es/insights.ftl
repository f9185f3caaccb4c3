# What a person should know or do. Each has a title, a body, what to do, and what is at stake.

insight-anomaly =
    .title = { $metric ->
        [gross_revenue] { $direction ->
            [down] Ventas muy por debajo de lo normal { $day_on }
           *[up] Ventas muy por encima de lo normal { $day_on }
        }
        [orders] { $direction ->
            [down] Muchos menos pedidos de lo normal { $day_on }
           *[up] Muchos más pedidos de lo normal { $day_on }
        }
        [refunds] { $direction ->
            [down] Reembolsos muy por debajo de lo normal { $day_on }
           *[up] Reembolsos muy por encima de lo normal { $day_on }
        }
        [profit] { $direction ->
            [down] Ganancia muy por debajo de lo normal { $day_on }
           *[up] Ganancia muy por encima de lo normal { $day_on }
        }
        [ad_spend] { $direction ->
            [down] Gasto en anuncios muy por debajo de lo normal { $day_on }
           *[up] Gasto en anuncios muy por encima de lo normal { $day_on }
        }
        [roas] { $direction ->
            [down] Los anuncios rindieron mucho menos de lo normal { $day_on }
           *[up] Los anuncios rindieron mucho más de lo normal { $day_on }
        }
        [cac] { $direction ->
            [down] Captar clientes costó mucho menos de lo normal { $day_on }
           *[up] Captar clientes costó mucho más de lo normal { $day_on }
        }
        [new_customers] { $direction ->
            [down] Muchos menos clientes nuevos de lo normal { $day_on }
           *[up] Muchos más clientes nuevos de lo normal { $day_on }
        }
        [conversion] { $direction ->
            [down] Conversión muy por debajo de lo normal { $day_on }
           *[up] Conversión muy por encima de lo normal { $day_on }
        }
       *[aov] { $direction ->
            [down] Pedidos mucho más pequeños de lo normal { $day_on }
           *[up] Pedidos mucho más grandes de lo normal { $day_on }
        }
    }
    .body = { $metric ->
        [gross_revenue] { $observed_n ->
            [0] No vendió nada { $day_on }; lo normal serían unos { $expected }.
           *[other] Vendió { $observed } { $day_on }; lo normal serían unos { $expected }.
        }
        [orders] { $observed_n ->
            [0] No entró ningún pedido { $day_on }; lo normal serían unos { $expected }.
            [one] Entró { $observed } pedido { $day_on }; lo normal serían unos { $expected }.
           *[other] Entraron { $observed } pedidos { $day_on }; lo normal serían unos { $expected }.
        }
        [refunds] { $observed_n ->
            [0] No reembolsó nada { $day_on }; lo normal serían unos { $expected }.
           *[other] Reembolsó { $observed } { $day_on }; lo normal serían unos { $expected }.
        }
        [profit] La ganancia fue de { $observed } { $day_on }; lo normal serían unos { $expected }.
        [ad_spend] { $observed_n ->
            [0] No gastó nada en anuncios { $day_on }; lo normal serían unos { $expected }.
           *[other] Gastó { $observed } en anuncios { $day_on }; lo normal serían unos { $expected }.
        }
        [roas] Los anuncios rindieron { $observed } veces lo que costaron { $day_on }; lo normal sería alrededor de { $expected }.
        [cac] Captar a cada cliente nuevo costó { $observed } en anuncios { $day_on }; lo normal serían unos { $expected }.
        [new_customers] { $observed_n ->
            [0] Ningún cliente nuevo compró { $day_on }; lo normal serían unos { $expected }.
            [one] { $observed } cliente nuevo compró { $day_on }; lo normal serían unos { $expected }.
           *[other] { $observed } clientes nuevos compraron { $day_on }; lo normal serían unos { $expected }.
        }
        [conversion] Compró el { $observed } de los visitantes { $day_on }; lo normal sería alrededor del { $expected }.
       *[aov] El pedido promedio fue de { $observed } { $day_on }; lo normal serían unos { $expected }.
    }{ $lasting ->
        [yes] {" "}Lleva así { $lasting_days } días.
       *[no] {""}
    } { $known ->
        [yes] { $cause }
       *[no] Los datos no dicen por qué.
    }
    .action = Revise qué fue distinto { $day_on }: la tienda, los precios, el stock y los anuncios.
    .impact = { $metric ->
        [roas] { $direction ->
            [down] Un rendimiento { $gap } menor que lo normal ese día
           *[up] Un rendimiento { $gap } mayor que lo normal ese día
        }
        [cac] { $direction ->
            [down] { $gap } menos de lo normal por cliente nuevo ese día
           *[up] { $gap } más de lo normal por cliente nuevo ese día
        }
        [new_customers] { $direction ->
            [down] { $gap_n ->
                [one] { $gap } cliente nuevo menos de lo normal ese día
               *[other] { $gap } clientes nuevos menos de lo normal ese día
            }
           *[up] { $gap_n ->
                [one] { $gap } cliente nuevo más de lo normal ese día
               *[other] { $gap } clientes nuevos más de lo normal ese día
            }
        }
        [aov] { $direction ->
            [down] { $gap } menos de lo normal por pedido ese día
           *[up] { $gap } más de lo normal por pedido ese día
        }
       *[other] { $direction ->
            [down] { $gap } menos de lo normal ese día
           *[up] { $gap } más de lo normal ese día
        }
    }

insight-loss =
    .title = Los últimos { $days } días cerraron con pérdidas
    .body = En los últimos { $days } días perdió { $lost }; en los { $days } días anteriores, la ganancia fue de { $profit_before }. Los ingresos netos pasaron de { $net_revenue_before } a { $net_revenue }, y todos los costos juntos, de { $costs_before } a { $costs }.{ $has_returned ->
        [yes] {" "}De estos costos se descontó una estimación de { $returned } por productos devueltos.
       *[no] {""}
    }
    .action = Compare los costos de ambos períodos en las cifras diarias de ganancia.
    .impact = Una pérdida de { $lost } en { $days } días

insight-profit-fell =
    .title = La ganancia bajó en los últimos { $days } días
    .body = En los últimos { $days } días la ganancia fue de { $profit }, frente a { $profit_before } en los { $days } días anteriores. Los ingresos netos pasaron de { $net_revenue_before } a { $net_revenue }, y todos los costos juntos, de { $costs_before } a { $costs }.{ $has_returned ->
        [yes] {" "}De estos costos se descontó una estimación de { $returned } por productos devueltos.
       *[no] {""}
    }
    .action = Compare los costos de ambos períodos en las cifras diarias de ganancia.
    .impact = { $lost } menos de ganancia en { $days } días

insight-ads-return-less =
    .title = Los anuncios rinden menos que antes
    .body = Los anuncios rindieron { $roas } veces lo que costaron en los últimos { $days } días, frente a { $roas_before } en los { $days } días anteriores. Gastó { $spent } en ellos.
    .action = Mire las campañas que más gastan y pause las que no traen pedidos.
    .impact = { $spent } de gasto en anuncios con el rendimiento más bajo

insight-new-customers-cost-more =
    .title = Captar clientes cuesta más que antes
    .body = { $new_customers_n ->
        [one] Captar a cada cliente nuevo costó { $cac } en anuncios en los últimos { $days } días, frente a { $cac_before } en los { $days } días anteriores. Llegó { $new_customers } cliente nuevo, frente a { $new_customers_before } antes.
       *[other] Captar a cada cliente nuevo costó { $cac } en anuncios en los últimos { $days } días, frente a { $cac_before } en los { $days } días anteriores. Llegaron { $new_customers } clientes nuevos, frente a { $new_customers_before } antes.
    }
    .action = Compárelo con lo que un cliente nuevo aporta con el tiempo.
    .impact = { $more } más por cliente nuevo

insight-sold-out =
    .title = { $products_n ->
        [one] { $products } producto con ventas está agotado
       *[other] { $products } productos con ventas están agotados
    }
    .body = { $others_n ->
        [0] No queda stock de { $skus }.
       *[other] No queda stock de { $skus_listed } y { $others } más.
    } { $products_n ->
        [one] Se vendió en los últimos { $days } días.
       *[other] Todos se vendieron en los últimos { $days } días.
    }
    .action = { $products_n ->
        [one] Repóngalo o retírelo de la tienda hasta que vuelva.
       *[other] Repóngalos o retírelos de la tienda hasta que vuelvan.
    }
    .impact = { $products_n ->
        [one] Cada día se pierden las ventas de { $products } producto
       *[other] Cada día se pierden las ventas de { $products } productos
    }

insight-running-out =
    .title = { $products_n ->
        [one] { $products } producto se agotará en { $days } días como máximo
       *[other] { $products } productos se agotarán en { $days } días como máximo
    }
    .body = { $others_n ->
        [0] Al ritmo actual, el stock de { $skus } dura { $days } días como máximo.
       *[other] Al ritmo actual, el stock de { $skus_listed } y { $others } más dura { $days } días como máximo.
    }
    .action = { $products_n ->
        [one] Repóngalo ahora.
       *[other] Repóngalos ahora.
    }
    .impact = { $products_n ->
        [one] { $products } producto a punto de agotarse
       *[other] { $products } productos a punto de agotarse
    }

insight-reorders =
    .title = { $items_n ->
        [one] { $items } sugerencia de reposición por decidir
       *[other] { $items } sugerencias de reposición por decidir
    }
    .body = { $items_n ->
        [one] { $items } artículo se agotaría si lo pidiera más tarde. La sugerencia muestra sus cifras.
       *[other] { $items } artículos se agotarían si los pidiera más tarde. Cada sugerencia muestra sus cifras.
    }
    .action = Revise las sugerencias de reposición pendientes.
    .impact = { $items_n ->
        [one] { $items } artículo en riesgo de agotarse
       *[other] { $items } artículos en riesgo de agotarse
    }

insight-customers-at-risk =
    .title = { $customers_n ->
        [one] { $customers } buen cliente no vuelve desde hace mucho
       *[other] { $customers } buenos clientes no vuelven desde hace mucho
    }
    .body = { $customers_n ->
        [one] Este cliente ha gastado { $revenue } hasta ahora, el { $share } de lo que han gastado todos los clientes, y lleva más tiempo sin comprar que la mayoría.
       *[other] Han gastado { $revenue } hasta ahora, el { $share } de lo que han gastado todos los clientes, y llevan más tiempo sin comprar que la mayoría.
    }
    .action = Escriba a los clientes del segmento { $segment }.
    .impact = { $revenue } de las ventas pasadas vinieron de ellos

insight-stale-shop =
    .title = Sin datos de { $shop } desde el { $day }
    .body = La tienda { $shop } de { platform } se sincronizó por última vez { $day_on } (UTC).
    .action = Revise la conexión y, si hace falta, vuelva a conectar la tienda.
    .impact = Las cifras de los días posteriores están incompletas
