# Why a metric was not what was expected: the way from it to what an owner can look at.

cause-closed-day = A loja não vendeu nada nesse dia; o normal { $orders_n ->
    [one] seria { $orders } pedido.
   *[other] seriam cerca de { $orders } pedidos.
}
cause = { $drivers } ({ $share } da diferença).
cause-because = ,{" "}porque{" "}
cause-driver = { $metric ->
    [gross_revenue] as vendas{ $place } ficaram
    [net_revenue] as vendas menos reembolsos{ $place } ficaram
    [orders] os pedidos{ $place } ficaram
    [units] as unidades vendidas{ $place } ficaram
    [visitors] as visitas{ $place } ficaram
    [ad_clicks] os cliques em anúncios{ $place } ficaram
    [visitors_per_click] as visitas por clique em anúncios{ $place } ficaram
    [clicks_per_spend] os cliques por valor gasto em anúncios{ $place } ficaram
    [share_of_visitors] a parte das visitas{ $place } ficou
    [orders_per_visitor_of_all] os pedidos{ $place } por visita à loja ficaram
    [conversion] a parte das visitas que virou pedido{ $place } ficou
    [customers] os clientes que compraram{ $place } ficaram
    [new_customers] os clientes novos{ $place } ficaram
    [returning_customers] os clientes que voltaram{ $place } ficaram
    [orders_per_customer] os pedidos por cliente{ $place } ficaram
    [units_per_order] as unidades por pedido{ $place } ficaram
    [price_per_unit] o preço médio de uma unidade{ $place } ficou
    [aov] o pedido médio{ $place } ficou
    [refunds] os reembolsos{ $place } ficaram
    [refund_rate] a parte das vendas que foi reembolsada{ $place } ficou
    [cogs] o custo do que foi vendido{ $place } ficou
    [fees] as taxas{ $place } ficaram
    [shipping] os custos de frete{ $place } ficaram
    [ad_spend] o gasto com anúncios{ $place } ficou
    [extra_expenses] as outras despesas{ $place } ficaram
    [cogs_per_unit] o custo dos produtos por unidade{ $place } ficou
    [shipping_per_order] os custos de frete por pedido{ $place } ficaram
    [cogs_per_gross_revenue] o custo dos produtos por venda{ $place } ficou
    [fees_per_gross_revenue] as taxas por venda{ $place } ficaram
    [shipping_per_gross_revenue] os custos de frete por venda{ $place } ficaram
   *[other] outro número{ $place } ficou
} { $compared ->
    [far_below] muito abaixo do normal
    [far_above] muito acima do normal
    [nothing] em zero
    [times] em { $times } vezes o nível normal
    [points_below] em { $observed }, { $points } abaixo do normal
    [points_above] em { $observed }, { $points } acima do normal
    [below] { $percent } abaixo do normal
   *[above] { $percent } acima do normal
}
# With the space before it.
cause-place = { $by ->
    [platform] {" "}{ on-platform }
    [product] {" "}de { $part }
    [country] {" "}{ $part_in }
    [campaign] {" "}da campanha { $part } { on-platform }
   *[country_platform] {" "}{ $part_in }, { on-platform },
}
# The same of all parts that are not named.
cause-others = { $by ->
    [platform] {" "}em todas as demais plataformas juntas
    [product] {" "}de todos os demais produtos juntos
    [country] {" "}em todos os demais países juntos
    [campaign] {" "}de todas as demais campanhas juntas
   *[country_platform] {" "}em todos os demais países e plataformas juntos
}
