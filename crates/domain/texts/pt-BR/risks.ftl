# The title of a risk, by its type. $label is what it is about; the others are its evidence, $x_threshold from where on it is raised.

risk-sold_out = { $label } está sem estoque
risk-stockout = { $days_of_stock_n ->
    [one] O estoque de { $label } acaba em cerca de { $days_of_stock } dia
   *[other] O estoque de { $label } acaba em cerca de { $days_of_stock } dias
}
risk-dead_stock = { $excess_units_n ->
    [one] Há { $excess_units } unidade de { $label } a mais do que se vende em meio ano
   *[other] Há { $excess_units } unidades de { $label } a mais do que se vende em meio ano
}
risk-churn = { $customers_n ->
    [one] { $customers } cliente frequente provavelmente não vai voltar
   *[other] { $customers } clientes frequentes provavelmente não vão voltar
}
risk-customer_concentration = Um único cliente traz { $share_90d } da receita líquida
risk-sku_concentration = { $label } traz { $share_90d } da receita
risk-channel_concentration = { $label } traz { $share_90d } da receita
risk-refund_spike = { $refunds_7d_n ->
    [one] { $refunds_7d } reembolso em uma semana, quando o normal é { $refunds_usual }
   *[other] { $refunds_7d } reembolsos em uma semana, quando o normal é { $refunds_usual }
}
risk-margin_drop = A margem caiu { $margin_14d_lost }, de { $margin_14d_threshold } para { $margin_14d }
risk-ad_waste = A campanha { $label } traz { $roas_30d } vezes o que custa; ela se paga a partir de { $roas_30d_threshold } vezes
risk-ad_fatigue = O anúncio { $label } recebe { $ctr_drop } menos cliques do que antes
risk-integration_stale = { $hours_since_sync_n ->
    [one] { $label } está há { $hours_since_sync } hora sem sincronizar
   *[other] { $label } está há { $hours_since_sync } horas sem sincronizar
}
risk-low_credits = { $days_left_n ->
    [one] Os créditos ainda duram cerca de { $days_left } dia
   *[other] Os créditos ainda duram cerca de { $days_left } dias
}
risk-webhooks_failing = { $hours_failing_n ->
    [one] O webhook { $subject } está falhando há { $hours_failing } hora
   *[other] O webhook { $subject } está falhando há { $hours_failing } horas
}
risk-unanswered_conversations = { $waiting_conversations_n ->
    [one] { $waiting_conversations } cliente espera uma resposta há { $hours_waiting } h
   *[other] { $waiting_conversations } clientes esperam uma resposta, o primeiro há { $hours_waiting } h
}

# What an amount takes for granted.

assumption-buyers_switch = no caso baixo, metade da demanda perdida pode ir para outro produto
assumption-on_order_arrives = o que já está pedido chega na metade do prazo de entrega, e o que for pedido hoje, no fim dele
assumption-lead_time_unknown = o fornecedor leva 14 dias, pois não se conhece o prazo de entrega
assumption-carrying_cost = o estoque custa por ano 20% do seu valor; no caso alto, o excedente é dado como perdido
assumption-leave_by_score = os clientes vão embora com a frequência que as pontuações de abandono indicam
assumption-buy_as_last_year = um cliente que fica traz tanto quanto no último ano
assumption-churn_uncalibrated = sem valor: ainda são poucos os clientes para saber quantos vão embora
assumption-whole_share_lost = no caso alto perde-se a parte inteira, e no baixo, nada dela
assumption-spike_fades = um quinto do que passa do normal permanece, como em semanas passadas
assumption-goods_not_back = os produtos devolvidos podem voltar à venda; os demais reembolsados se perdem
assumption-revenue_as_last_month = a receita líquida é como nos últimos 30 dias
assumption-margin_recovers = um quinto da queda permanece, como em quedas passadas
assumption-use_as_lately = usam-se tantos créditos quanto nos últimos 14 dias
assumption-spend_as_lately = gasta-se tanto quanto nos últimos 30 dias
assumption-sales_as_claimed = os anúncios trazem as vendas que a plataforma informa
assumption-clicks_stay_few = os cliques continuam tão baixos quanto agora no caso alto e voltam no caso baixo
assumption-costs_unknown = sem valor: os custos unitários não são conhecidos
