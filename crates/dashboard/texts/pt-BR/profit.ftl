explained-gross_revenue = Receita bruta
explained-refunds = Reembolsos
explained-ad_spend = Gasto com anúncios
explained-cogs_estimate = Custo das mercadorias
explained-fees_estimate = Taxas de pagamento
explained-shipping_estimate = Frete
explained-extra_expenses = Outras despesas
explained-net_revenue = Receita líquida
explained-operational_profit = Lucro operacional
explained-final_profit = Lucro
explained-margin_pct = Margem
explained-purchase_count = Pedidos
input-goods_revenue = Receita de produtos
input-cogs_covered_revenue = Receita com custo conhecido
input-cogs_ratio = Proporção entre custo e receita
input-returned_units = Unidades devolvidas
input-returned_cogs = Custo das unidades devolvidas
input-fees_estimated_orders = Pedidos com taxa estimada
input-fee_rate = Percentual da taxa
input-fee_fixed = Taxa por pedido
input-returned_fees = Taxas devolvidas
input-shipping_estimated_orders = Pedidos com frete estimado
input-shipping_per_order = Frete por pedido
way-title = Da receita bruta ao lucro
column-way = O que sobra
column-amount = Valor
column-before = Antes
column-change = Variação
column-basis = Custos
days-title = Dia a dia
cost-known = Custo conhecido
of-goods = de { $revenue } em produtos vendidos
days-estimated = Dias com estimativas
of-days = de { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
}
estimated = Estimado
stated = Informado
how-estimates = O que a loja não informa de custos, taxas ou fretes é estimado: por outras vendas, se elas o indicam, ou pelas suposições da conta. O número é então marcado como estimado.
estimates-none = Aqui nada é estimado.
estimates-costs = Estimado aqui: o custo dos produtos cujo custo unitário não é conhecido. Importe os custos unitários e ele será exato.
estimates-fees = Estimado aqui: as taxas de pagamento de { $orders_n ->
    [one] { $orders } pedido para o qual
   *[other] { $orders } pedidos para os quais
} a loja não as informa. A suposição está nas configurações da loja.
estimates-shipping = Estimado aqui: o frete de { $orders_n ->
    [one] { $orders } pedido para o qual
   *[other] { $orders } pedidos para os quais
} a loja não o informa. A suposição está nas configurações da loja.
estimates-returns = Estimado aqui: o que foi devolvido. Supõe-se que os produtos devolvidos podem voltar à venda, e que a taxa é devolvida onde a plataforma faz isso.
profit-of = Lucro { $day_on }
neighbours = Outros dias
each-figure = Cada número e de onde vem
lacks-comparison = Nenhuma mudança é mostrada: os números da loja não cobrem todos os dias com que se compara.
profit-lacks-costs = Conhece-se o custo de { $share } do que foi vendido. O restante é estimado, e o lucro também: importe os custos unitários para que ele seja exato.
profit-lacks-later = O que chegou depois de { $at } ainda não está nestes números: eles são calculados todas as noites.
profit-lacks-rates = Em { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
} o lucro não inclui o gasto com anúncios em moedas sem taxa de câmbio. Importe as taxas, e ele será contado a partir da noite seguinte.
day-unusual = O que foi incomum nesse dia
day-unusual-none = Nada incomum foi encontrado neste dia.
day-unusual-not-yet = O dia ainda não foi analisado. Ele é analisado na manhã seguinte.
