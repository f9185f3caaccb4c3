# What a person should know or do. Each has a title, a body, what to do, and what is at stake.

insight-loss =
    .title = Los últimos { $days } días cerraron con pérdidas
    .body = En los últimos { $days } días perdiste { $lost }; en los { $days } días anteriores, la ganancia fue de { $profit_before }. Los ingresos netos pasaron de { $net_revenue_before } a { $net_revenue }, y todos los costos juntos, de { $costs_before } a { $costs }.{ $has_returned ->
        [yes] {" "}De estos costos se descontó una estimación de { $returned } por productos devueltos.
       *[no] {""}
    }
    .action = Compara los costos de ambos períodos en las cifras diarias de ganancia.
    .impact = Una pérdida de { $lost } en { $days } días

insight-profit-fell =
    .title = La ganancia bajó en los últimos { $days } días
    .body = En los últimos { $days } días la ganancia fue de { $profit }, frente a { $profit_before } en los { $days } días anteriores. Los ingresos netos pasaron de { $net_revenue_before } a { $net_revenue }, y todos los costos juntos, de { $costs_before } a { $costs }.{ $has_returned ->
        [yes] {" "}De estos costos se descontó una estimación de { $returned } por productos devueltos.
       *[no] {""}
    }
    .action = Compara los costos de ambos períodos en las cifras diarias de ganancia.
    .impact = { $lost } menos de ganancia en { $days } días

insight-ads-return-less =
    .title = Los anuncios rinden menos que antes
    .body = Los anuncios rindieron { $roas } veces lo que costaron en los últimos { $days } días, frente a { $roas_before } en los { $days } días anteriores. Gastaste { $spent } en ellos; se cuentan todas las ventas de la tienda.
    .action = Mira las campañas que más gastan y pausa las que no traen pedidos.
    .impact = { $spent } de gasto en anuncios con el rendimiento más bajo

insight-new-customers-cost-more =
    .title = Captar clientes cuesta más que antes
    .body = { $new_customers_n ->
        [one] Captar a cada cliente nuevo costó { $cac } en anuncios en los últimos { $days } días, frente a { $cac_before } en los { $days } días anteriores. Llegó { $new_customers } cliente nuevo, frente a { $new_customers_before } antes.
       *[other] Captar a cada cliente nuevo costó { $cac } en anuncios en los últimos { $days } días, frente a { $cac_before } en los { $days } días anteriores. Llegaron { $new_customers } clientes nuevos, frente a { $new_customers_before } antes.
    }
    .action = Compáralo con lo que un cliente nuevo aporta con el tiempo.
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
    .action = { $ordered ->
        [all] Todo está pedido: pregunta a los proveedores cuándo llega y dilo en la tienda.
        [some] Repón lo que aún no está pedido y pregunta a los proveedores cuándo llega el resto.
       *[none] { $products_n ->
            [one] Reponlo o retíralo de la tienda hasta que vuelva.
           *[other] Reponlos o retíralos de la tienda hasta que vuelvan.
        }
    }
    .impact = { $valued ->
        [yes] Cada día se pierden unos { $daily } en ventas
       *[no] { $products_n ->
            [one] Cada día se pierden las ventas de { $products } producto
           *[other] Cada día se pierden las ventas de { $products } productos
        }
    }

insight-running-out =
    .title = { $products_n ->
        [one] { $products } producto se agotará en { $days } días como máximo
       *[other] { $products } productos se agotarán en { $days } días como máximo
    }
    .body = { $dated ->
        [yes] { $products_n ->
            [one] Al ritmo actual, el stock de { $skus } dura hasta el { $day }.
           *[other] { $others_n ->
                [0] Al ritmo actual, el stock de { $skus } dura { $days } días como máximo; el de { $first }, solo hasta el { $day }.
               *[other] Al ritmo actual, el stock de { $skus_listed } y { $others } más dura { $days } días como máximo; el de { $first }, solo hasta el { $day }.
            }
        }
       *[no] { $others_n ->
            [0] Al ritmo actual, el stock de { $skus } dura { $days } días como máximo.
           *[other] Al ritmo actual, el stock de { $skus_listed } y { $others } más dura { $days } días como máximo.
        }
    }
    .action = { $ordered ->
        [all] Todo está pedido: pregunta a los proveedores cuándo llega.
        [some] Repón lo que aún no está pedido y pregunta a los proveedores cuándo llega el resto.
       *[none] { $products_n ->
            [one] Reponlo ahora.
           *[other] Reponlos ahora.
        }
    }
    .impact = { $products_n ->
        [one] { $products } producto a punto de agotarse
       *[other] { $products } productos a punto de agotarse
    }

insight-reorders =
    .title = { $items_n ->
        [one] { $items } artículo por reponer antes de que se agote
       *[other] { $items } artículos por reponer antes de que se agoten
    }
    .body = { $due ->
        [in_time] { $items_n ->
            [one] Conviene pedir { $first } a más tardar el { $day } para que llegue a tiempo.
           *[other] { $others_n ->
                [0] { $skus } corren riesgo de agotarse si los pides más tarde. Conviene pedir { $first } a más tardar el { $day }.
               *[other] { $skus_listed } y { $others } más corren riesgo de agotarse si los pides más tarde. Conviene pedir { $first } a más tardar el { $day }.
            }
        }
        [late] { $items_n ->
            [one] { $first } se agotará antes de que llegue un nuevo pedido.
           *[other] { $others_n ->
                [0] { $skus } corren riesgo de agotarse si los pides más tarde. { $first } se agotará antes de que llegue un nuevo pedido.
               *[other] { $skus_listed } y { $others } más corren riesgo de agotarse si los pides más tarde. { $first } se agotará antes de que llegue un nuevo pedido.
            }
        }
       *[unknown] { $items_n ->
            [one] { $items } artículo corre riesgo de agotarse si lo pides más tarde. La sugerencia muestra sus cifras.
           *[other] { $items } artículos corren riesgo de agotarse si los pides más tarde. Cada sugerencia muestra sus cifras.
        }
    }
    .action = Revisa las sugerencias de reposición pendientes.
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
    .action = Escribe a los clientes en riesgo.
    .impact = { $customers_n ->
        [one] { $revenue } de las ventas pasadas vinieron de este cliente
       *[other] { $revenue } de las ventas pasadas vinieron de ellos
    }

insight-comments-waiting =
    .title = { $comments_n ->
        [one] { $comments } comentario espera respuesta desde hace más de un día
       *[other] { $comments } comentarios esperan respuesta desde hace más de un día
    }
    .body = { $complaints_n ->
        [0] El más antiguo espera desde el { $day }. No hay reclamos en espera.
        [one] El más antiguo espera desde el { $day }. { $complaints } es un reclamo.
       *[other] El más antiguo espera desde el { $day }. { $complaints } de ellos son reclamos.
    }
    .action = { $complaints_n ->
        [0] Responde lo que está en espera.
       *[other] Responde lo que está en espera, primero los reclamos.
    }
    .impact = { $comments_n ->
        [one] { $comments } persona está sin respuesta
       *[other] { $comments } personas están sin respuesta
    }

insight-product-took-off =
    .title = { $product } despegó: { $purchases } compras en { $days } días
    .body = Los últimos { $days } días trajeron { $purchases } compras de { $product }, { $units } unidades en total. En los { $before } días anteriores, { $days } días trajeron { $usual } en promedio y { $most } como máximo. Son unos { $sales } más en ventas.{ $stocked ->
        [unknown] {""}
        [out] {" "}No queda stock.
        [awaited] {" "}No queda stock.
       *[other] {" "}A este ritmo, el stock de { $stock } dura { $cover_n ->
            [one] { $cover } día.
           *[other] { $cover } días.
        }
    }
    .action = { $stocked ->
        [short] Repón { $product } antes de que se agote.
        [out] Repón { $product } o retíralo de la tienda hasta que vuelva.
        [awaited] Hay unidades de { $product } en camino: pregunta al proveedor cuándo llegan y dilo en la tienda.
       *[other] Muestra { $product } en un lugar más visible mientras se vende.
    }
    .impact = { $sales } más en ventas en { $days } días

insight-campaign-pays =
    .title = { $campaign } trae { $roas } veces lo que cuesta
    .body = En { $days } días se gastaron { $spent } en { $campaign }. Según las cuentas de la propia plataforma, la campaña trajo { $sales } en ventas. Se paga a partir de { $least } veces su costo.{ $others ->
        [yes] {" "}Tus otras campañas traen { $roas_others } veces lo que cuestan.
       *[no] {""}
    }
    .action = Dale a { $campaign } más presupuesto poco a poco, mientras las ventas lo acompañen.
    .impact = { $others ->
        [yes] Unos { $gain } más de ganancia que con el mismo dinero en tus otras campañas
       *[no] Unos { $gain } de ganancia de { $campaign } en { $days } días
    }

insight-stale-shop =
    .title = Sin datos de { $shop } desde el { $day }
    .body = { $source ->
        [ads] La cuenta publicitaria { $shop } de { platform } se sincronizó por última vez { $day_on }.
       *[shop] La tienda { $shop } de { platform } se sincronizó por última vez { $day_on }.
    }{ $ended ->
        [yes] {" "}{ platform } ya no acepta la conexión.
       *[no] {""}
    }
    .action = { $ended ->
        [yes] Vuelve a conectarla.
       *[no] { $source ->
            [ads] Revisa la conexión y, si hace falta, vuelve a conectar la cuenta.
           *[shop] Revisa la conexión y, si hace falta, vuelve a conectar la tienda.
        }
    }
    .impact = Las cifras de los días posteriores están incompletas
