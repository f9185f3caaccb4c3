# Números, seus períodos e estados, em mais de uma página.

period = Período
period-day = Dia
period-7d = 7 dias
period-30d = 30 dias
period-90d = 90 dias
period-12m = 12 meses
window-other = Outros dias
window-earlier = Antes: { $days }
window-later = Depois: { $days }
window-newest = Estes são os últimos dias encerrados
page-window = { $days }, dias completos, { $place }
page-place = horário de { $zone }, { $currency }
# Cities of time zones that are spelled otherwise there.
city = { $code ->
    [Asuncion] Asunción
    [Belem] Belém
    [Berlin] Berlim
    [Bogota] Bogotá
    [Cancun] Cancún
    [Cordoba] Córdoba
    [Cuiaba] Cuiabá
    [Havana] Havana
    [Lisbon] Lisboa
    [London] Londres
    [Maceio] Maceió
    [Merida] Mérida
    [Mexico_City] Cidade do México
    [New_York] Nova York
    [Panama] Panamá
    [Sao_Paulo] São Paulo
    [Tucuman] Tucumán
   *[other] { $name }
}
compare-with = Comparar: { $with }
compare-before = os { $days } dias anteriores
compare-weekdays = mesmos dias da semana
compare-year = ano passado
compare-none = nada
compare-before-window = { $count } dias antes, { $days }
compare-weekdays-window = Mesmos dias da semana, { $days }
compare-year-window = Ano passado, { $days }
compare-nothing = Nada
metric-profit = Lucro
metric-net_revenue = Receita líquida
metric-orders = Pedidos
metric-aov = Pedido médio
metric-margin = Margem
metric-ad_spend = Gasto com anúncios
metric-gross_revenue = Receita bruta
metric-units = Unidades vendidas
metric-customers = Clientes que compraram
metric-new_customers = Clientes novos
metric-refunds = Reembolsos
metric-refund_rate = Taxa de reembolso
metric-roas = Retorno dos anúncios
metric-cac = Custo por cliente novo
metric-conversion = Conversão
more = a mais
less = a menos
unchanged = sem mudança
from-before = antes { $before }
line-expected = esperado
column-expected = Faixa esperada
mark = { $day }: { $value } { $name }, esperava-se { $range }. Ver por quê
at-stake = em jogo
product = Produto
likely-on = Provável em
units-left = { $count_n ->
    [one] resta { $count }
   *[other] restam { $count }
}
out-now = Sem estoque
axis-today = hoje
axis-days = { $count } dias
how-band = A faixa esperada é onde caem cerca de 19 de cada 20 dias comuns: inclui dia da semana, tendência, sazonalidade e feriados.
how-edge = Onde a linha comparada segue a borda, esse dia fica muito fora da escala. O número dele está na tabela.

severity-low = Baixa
severity-medium = Média
severity-high = Alta
severity-critical = Crítica
all = Todas
show = Mostrar
next-page = Próxima
over-days = Em mais de { $days } dias
no-demand = Não vende
all-products = Todos os produtos
