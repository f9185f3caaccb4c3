reorder-pending = A pedir
reorder-ordered = Pedidas
reorder-dismissed = Dispensadas
reorder-pending-title = O que comprar de novo
reorder-ordered-title = O que você pediu
reorder-dismissed-title = O que você dispensou
reorder-pending-none = Nada a comprar agora: o estoque de cada produto dura até a chegada de um pedido feito depois.
reorder-ordered-none = Nada está marcado como pedido.
reorder-dismissed-none = Você não dispensou nada.
reorder-now-pending = Voltou para a lista do que pedir.
reorder-now-ordered = Marcada como pedida. Não é sugerida de novo até que o pedido possa ter chegado.
reorder-now-dismissed = Dispensada.
reorder-basis = Os números por trás
reorder-about = Cobre { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
} de demanda com probabilidade de { $share } · calculado: { $at }
order-so-many = Pedir { $quantity } de { $product }
do-not-order = { $product }: seriam necessárias { $quantity }
sells-at-a-loss = Vende com prejuízo
mark-ordered = Marcar como pedido
units = unidades
column-value = Valor
basis-on_hand = Em estoque
basis-on_order = Pedidas
basis-lead_time_days = Dias de entrega
basis-review_days = Dias até a próxima ocasião de pedir
basis-daily_demand = Vendas esperadas por dia
basis-expected_demand = Vendas esperadas até a chegada do próximo pedido
basis-safety_stock = Estoque de segurança
basis-reorder_point = Pedir quando o estoque cair para
basis-order_up_to = Pedir até chegar a
basis-service_level = Probabilidade buscada
basis-pack_size = Unidades por pacote
basis-min_order_qty = Quantidade mínima
basis-unit_contribution = O que sobra de cada unidade vendida
basis-sold_last_year = Vendidas há um ano nesse período
how-reorder = A quantidade com que o estoque e o pedido duram até a chegada do seguinte, em tantos casos de cada 100 quanto a conta busca; arredondada para pacotes e para a quantidade mínima.
