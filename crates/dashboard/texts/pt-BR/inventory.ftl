stock-states = Produtos por estado; cada um mostra os seus abaixo
stock-critical = Crítico
stock-low = Baixo
stock-ok = Suficiente
stock-overstocked = Demais
stock-critical-what = dura 7 dias ou menos
stock-low-what = dura 21 dias ou menos
stock-ok-what = dura até 120 dias
stock-overstocked-what = dura mais, ou não vende
stock-title = Todos os produtos, os mais urgentes primeiro
stock-critical-title = Produtos críticos, os mais urgentes primeiro
stock-low-title = Produtos com estoque baixo
stock-ok-title = Produtos com estoque suficiente
stock-overstocked-title = Produtos com estoque demais
stock-none = Nenhum produto está neste estado.
stock-unknown = Ainda não se conhece o estoque de nenhum produto. Conecte uma loja ou importe um arquivo com estoques; os primeiros números chegam alguns minutos depois.
days-of-stock = Dias de estoque
units-a-day = Unidades por dia
how-states = O estado depende de quantos dias o estoque dura.
search-products = O SKU ou o nome começa com
sold-in-7 = Vendidas em 7 dias
sold-in-30 = Vendidas em 30 dias
lasts-title = Quanto dura
sold-title = O que foi vendido, por dia
line-sold = vendidas
not-sold = Nada foi vendido
not-sold-what = Nos últimos 90 dias ninguém comprou.
sold-sum = { $count_n ->
    [one] { $count } unidade foi vendida nos últimos { $days } dias completos.
   *[other] { $count } unidades foram vendidas nos últimos { $days } dias completos.
}
sold-best = O melhor dia, { $day }: { $count }.
column-sold = Vendidas
column-returned = Devolvidas
column-left = Restavam no fim
how-sold = Unidades como foram pedidas, no dia do pedido. O que voltou conta no seu próprio dia. O que restava é o que a loja ou um arquivo disse no fim do dia.
