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
how-estimates = Onde a loja não informa um custo, uma taxa ou um frete, usa-se a suposição da conta e o número é marcado como estimado. Informe os custos por unidade dos seus produtos e as marcas somem.
profit-of = Lucro { $day_on }
neighbours = Outros dias
each-figure = Cada número e de onde ele vem
profit-lacks-costs = O custo de { $share } do que foi vendido é conhecido. O resto é estimado, e com ele o lucro: importe os custos unitários para que seja exato.
profit-lacks-rates = Em { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
} o lucro não inclui gasto com anúncios em uma moeda sem taxa de câmbio. Importe as taxas, e ele será contado a partir da noite seguinte.
