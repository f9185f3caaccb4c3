figures = Números; cada um muda o gráfico abaixo

per-day-profit = Lucro por dia
per-day-net_revenue = Receita líquida por dia
per-day-orders = Pedidos por dia
per-day-aov = Pedido médio por dia
per-day-margin = Margem por dia
per-day-ad_spend = Gasto com anúncios por dia

sum-alone = { $name }: { $value }.
sum-more = { $name }: { $value }, { $change } a mais que { $than }.
sum-less = { $name }: { $value }, { $change } a menos que { $than }.
sum-same = { $name }: { $value }, o mesmo que { $than }.
than-before = nos { $days } dias anteriores
than-weekdays = nos mesmos dias da semana, { $weeks_n ->
    [one] { $weeks } semana
   *[other] { $weeks } semanas
} antes
than-year = um ano antes
outside-none = Nenhum dia saiu da faixa esperada.
outside-one = Um dia saiu da faixa esperada: { $day }, com { $value }.
outside-many = { $count } dias saíram da faixa esperada; o que mais se afastou, { $day }, com { $value }.

line-today = hoje até agora
line-before-before = { $days } dias antes
line-before-weekdays = { $weeks_n ->
    [one] { $weeks } semana
   *[other] { $weeks } semanas
} antes
line-before-year = um ano antes

no-orders = Ainda não há pedidos
no-orders-what = Os primeiros números chegam alguns minutos depois dos primeiros pedidos. Conecte uma loja ou importe um arquivo de pedidos.
connect-shop = Conectar uma loja
not-computed = Nada foi calculado ainda. Isso acontece toda noite, e também logo após cada importação.
no-figures = Sem números para estes dias
no-snapshot = Nada foi calculado para estes dias ainda. Isso acontece toda noite e logo depois de uma importação.

happened = O que aconteceu
happened-none = Nada requer sua atenção agora. O que acontecer é contado aqui na manhã seguinte.
happened-not-yet = O que acontecer será contado aqui a partir da manhã seguinte aos primeiros pedidos.
stockouts = Sem estoque em 14 dias
stockouts-none = Nada deve acabar nos próximos 14 dias.
risks = Riscos dos próximos 30 dias
risks-first = Riscos dos próximos 30 dias: os { $shown } mais graves de { $count }
risks-none = Nenhum risco se destaca.
risks-not-yet = Os riscos são procurados toda noite e logo depois de uma importação.
likely-loss = perda provável
risk-likely = Probabilidade: { $share }.
risk-range = Pode custar de { $low } a { $high }.
risk-amount = Pode custar { $high }.
risk-act-reorder = Repor
risk-act-discount = Liquidar
risk-act-contact = Entrar em contato
risk-act-reconnect = Reconectar
risk-act-pause_ad = Pausar o anúncio
risk-act-top_up = Comprar créditos
risk-act-fix_endpoint = Corrigir o receptor
risk-act-reply = Responder
risk-act-review = Verificar
sources = De onde vêm os números
source = Fonte
state = Estado
newest = Registro mais novo
state-connected = Em dia
state-stale = Sem dados
state-revoked = Desconectada
state-never_synced = Lendo
source-orders = Pedidos
source-refunds = Reembolsos
source-ad_spend = Gasto com anúncios
source-expenses = Despesas
source-stock_levels = Níveis de estoque
source-track_events = Visitas

how-profit = Lucro = receita líquida − custo das mercadorias − taxas de pagamento − frete − anúncios − outras despesas. Um custo que a loja não informa é estimado.
how-net_revenue = Receita líquida = receita bruta − reembolsos. Um reembolso conta no próprio dia.
how-orders = Pedidos no dia em que foram pagos, no fuso horário da conta.
how-aov = Pedido médio = receita bruta ÷ pedidos. Sem valor em um dia sem pedidos.
how-margin = Margem = lucro ÷ receita líquida. Sem valor onde a receita líquida não é maior que zero.
how-ad_spend = Gasto com anúncios como informam as plataformas ou os seus arquivos.
how-stories = Os eventos são encontrados ao comparar cada dia com o que os dias anteriores faziam esperar, e ordenados: o que é crítico primeiro, depois pelo dinheiro em jogo.
how-stockouts = Da demanda prevista de cada produto e do seu estoque. A barra abrange 6 de cada 10 resultados.
how-risks = A perda provável é a média do que pode acontecer em 30 dias, como margem de contribuição, não como vendas.
curl-figures = os números: “totals”, dos dias completos
curl-chart = o gráfico: “data”, com o dia de hoje

# Desde a visita anterior.
news = Novo desde a sua última visita ({ $time }):
news-none = Não há nada novo desde a sua última visita ({ $time }).
news-anomalies = { $count_n ->
    [one] { $count } anomalia
   *[other] { $count } anomalias
}
news-insights = { $count_n ->
    [one] { $count } novidade
   *[other] { $count } novidades
}
news-alerts = { $count_n ->
    [one] { $count } alerta disparou
   *[other] { $count } alertas dispararam
}
news-broken = { $count_n ->
    [one] { $count } loja não pode ser lida
   *[other] { $count } lojas não podem ser lidas
}
