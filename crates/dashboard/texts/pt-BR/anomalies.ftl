severity = Gravidade
last-days = { $days } dias
column-figure = Indicador
column-that-day = Nesse dia
column-likely = Esperado
anomalies-title = Dias que não foram como se esperava, do mais novo ao mais antigo
anomalies-none = Nestes dias todos os números foram como se esperava.
anomalies-not-yet = Nada foi analisado ainda. São precisos { $needed } dias de histórico; depois cada dia é analisado na manhã seguinte.
anomalies-lacking = Nada pode ser avaliado ainda: são precisos { $needed } dias de histórico, e há { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
}. A partir daí cada dia é analisado na manhã seguinte.
how-anomalies = Cada número de um dia é comparado com o que os dias anteriores faziam esperar. A gravidade é o quanto se afastou e por quanto dinheiro.
anomaly-title = { $direction ->
    [down] { $name }: abaixo do normal { $day_on }
   *[up] { $name }: acima do normal { $day_on }
}
anomaly-alert = Criar um alerta
anomaly-alert-name = { $direction ->
    [down] { $name }: abaixo do normal
   *[up] { $name }: acima do normal
}
expected-range = esperava-se { $range }
found-at = encontrada: { $at }
confidence = Confiança na causa
no-cause = Nenhuma causa conhecida explica isso sozinha.
no-cause-short = causa desconhecida
anomaly-shift = Não voltou: o nível mudou, e o que se espera muda com ele.
metric-around = { $name } por dia, 28 dias antes e depois
anomaly-sum = { $name }: { $value } { $day_on }, quando o normal teria sido { $range }.
no-days = Os dias próximos não estão guardados
no-days-what = Eles são guardados a partir da próxima noite, quando os dias são analisados de novo.
explains = O que explica a diferença de { $amount }
explains-none = Este número não pode ser dividido em partes.
how-drivers = Toda divisão (canal, país, produto, campanha e aquilo de que o número é feito) é testada. Mostra-se a que explica a maior parte da diferença com menos partes. Uma proporção é parte da linha acima. O custo das mercadorias, as taxas e o frete são esperados na proporção habitual do que foi vendido nesse dia; nenhum custo é esperado abaixo de zero.
worked-against = no sentido contrário
instead-of = { $observed } em vez de { $expected }
all-others = os demais
part-on = { $part } em { $platform }
beside = O que mais foi incomum nesse dia
beside-none = Todos os outros números foram como se esperava nesse dia.
along = Também mudaram, mas não a ponto de serem incomuns sozinhos: { $names }.
moved-along = { $direction ->
    [down] { $name } (em queda)
   *[up] { $name } (em alta)
}
driver = { $metric ->
    [visitors] Visitas
    [ad_clicks] Cliques em anúncios
    [visitors_per_click] Visitas por clique em anúncios
    [clicks_per_spend] Cliques pelo gasto com anúncios
    [share_of_visitors] Parte das visitas
    [orders_per_visitor_of_all] Pedidos por visita à loja
    [returning_customers] Clientes que voltaram
    [orders_per_customer] Pedidos por cliente
    [units_per_order] Unidades por pedido
    [price_per_unit] Preço médio de uma unidade
    [cogs] Custo das mercadorias
    [fees] Taxas de pagamento
    [shipping] Frete
    [extra_expenses] Outras despesas
    [cogs_per_unit] Custo das mercadorias por unidade
    [shipping_per_order] Frete por pedido
    [cogs_per_gross_revenue] Custo das mercadorias por venda
    [fees_per_gross_revenue] Taxas por venda
    [shipping_per_gross_revenue] Frete por venda
    [ad_spend_per_gross_revenue] Gasto com anúncios por venda
    [extra_expenses_per_gross_revenue] Outras despesas por venda
    [costs_per_gross_revenue] Todos os custos por venda
    [costs_per_net_revenue] Todos os custos por venda líquida
    [net_per_gross_revenue] Parte das vendas que não é reembolsada
   *[other] Outro número
}
