# The title of a risk, by its type. $label is what it is about; the others are its evidence, $x_threshold from where on it is raised.

risk-sold_out = { $label } está agotado
risk-stockout = { $days_of_stock_n ->
    [one] El stock de { $label } se agota en { $days_of_stock } día aproximadamente
   *[other] El stock de { $label } se agota en unos { $days_of_stock } días
}
risk-dead_stock = { $excess_units_n ->
    [one] Hay { $excess_units } unidad de { $label } más de lo que se vende en medio año
   *[other] Hay { $excess_units } unidades de { $label } más de lo que se vende en medio año
}
risk-churn = { $customers_n ->
    [one] { $customers } cliente habitual probablemente no vuelva
   *[other] { $customers } clientes habituales probablemente no vuelvan
}
risk-customer_concentration = Un solo cliente aporta el { $share_90d } de los ingresos netos
risk-sku_concentration = { $label } aporta el { $share_90d } de los ingresos
risk-channel_concentration = { $label } aporta el { $share_90d } de los ingresos
risk-refund_spike = { $refunds_7d_n ->
    [one] { $refunds_7d } reembolso en una semana, cuando lo habitual es { $refunds_usual }
   *[other] { $refunds_7d } reembolsos en una semana, cuando lo habitual es { $refunds_usual }
}
risk-margin_drop = El margen bajó { $margin_14d_lost }, del { $margin_14d_threshold } al { $margin_14d }
risk-ad_waste = La campaña { $label } trae { $roas_30d } veces lo que cuesta; se paga a partir de { $roas_30d_threshold } veces
risk-ad_fatigue = El anuncio { $label } recibe un { $ctr_drop } menos de clics que antes
risk-integration_stale = { $hours_since_sync_n ->
    [one] { $label } lleva { $hours_since_sync } hora sin sincronizarse
   *[other] { $label } lleva { $hours_since_sync } horas sin sincronizarse
}
risk-low_credits = { $days_left_n ->
    [one] Los créditos alcanzan para { $days_left } día más, aproximadamente
   *[other] Los créditos alcanzan para unos { $days_left } días más
}
risk-webhooks_failing = { $hours_failing_n ->
    [one] El webhook { $subject } lleva { $hours_failing } hora fallando
   *[other] El webhook { $subject } lleva { $hours_failing } horas fallando
}
risk-unanswered_conversations = { $waiting_conversations_n ->
    [one] { $waiting_conversations } cliente espera una respuesta desde hace { $hours_waiting } h
   *[other] { $waiting_conversations } clientes esperan una respuesta, el primero desde hace { $hours_waiting } h
}

# What an amount takes for granted.

assumption-buyers_switch = en el caso bajo, la mitad de la demanda perdida puede pasar a otro producto
assumption-on_order_arrives = lo que ya está pedido llega a mitad del plazo de entrega, y lo que se pida hoy, al final
assumption-lead_time_unknown = el proveedor tarda 14 días, porque no se conoce su plazo de entrega
assumption-carrying_cost = el stock cuesta al año el 20% de su valor; en el caso alto, el excedente se da por perdido
assumption-leave_by_score = los clientes se van con la frecuencia que indican sus puntuaciones de abandono
assumption-buy_as_last_year = un cliente que se queda aporta tanto como en el último año
assumption-churn_uncalibrated = sin importe: aún son muy pocos los clientes para saber cuántos se irán
assumption-whole_share_lost = en el caso alto se pierde toda la parte, y en el bajo, nada
assumption-spike_fades = una quinta parte de lo que supera lo habitual se mantiene, como en semanas pasadas
assumption-goods_not_back = los productos devueltos pueden volver a venderse; los demás reembolsados se pierden
assumption-revenue_as_last_month = los ingresos netos son como en los últimos 30 días
assumption-margin_recovers = una quinta parte de la caída se mantiene, como en caídas pasadas
assumption-use_as_lately = se usan tantos créditos como en los últimos 14 días
assumption-spend_as_lately = se gasta tanto como en los últimos 30 días
assumption-sales_as_claimed = los anuncios traen las ventas que declara su plataforma
assumption-clicks_stay_few = los clics siguen tan bajos como ahora en el caso alto y se recuperan en el caso bajo
assumption-costs_unknown = sin importe: no se conocen los costos unitarios
