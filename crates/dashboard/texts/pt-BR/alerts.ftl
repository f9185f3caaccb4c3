alerts = Alertas
alerts-about = Um alerta vigia um número e dispara o evento alert.fired quando ele cruza um limite: uma vez, até se recuperar.
alerts-title = Regras, as mais novas primeiro
alerts-none = Ainda não há nenhuma regra. Pegue uma das três abaixo, ou faça a sua: primeiro você vê quantas vezes teria disparado.
alerts-ready = Prontas para usar
ready-no-orders = Um dia sem pedidos
ready-loss = Um dia com prejuízo
ready-stockouts = Acabou algo que vende
how-alerts = As regras são avaliadas a cada cinco minutos. O primeiro valor além do limite dispara; um valor do outro lado arma a regra de novo. Depois de disparar ela se cala durante a sua pausa. Pedidos, receita, reembolsos, pedido médio e eventos são das últimas horas, até agora. Gasto com anúncios, ROAS, lucro e margem são de dias completos, sem hoje. Os produtos esgotados são os do último cálculo, feito uma vez por dia.
alert-name = Nome
alert-state = Estado
alert-last-value = Último valor
alert-last-fired = Último disparo
alert-last-evaluated = Última avaliação
alert-metric = Vigiar
alert-event = Nome do evento
alert-event-help = Só para um evento registrado.
alert-comparator = Dispara quando está
alert-threshold = Limite
alert-threshold-help = Dinheiro na moeda da conta, a margem em porcentagem.
alert-window = Em quantas horas
alert-window-help = Pedidos, receita, reembolsos e pedido médio de 1 a 2160. Gasto com anúncios, ROAS, lucro e margem em dias completos: 24, 48 etc., até 2160. Produtos esgotados 24. Eventos de 1 a 168.
alert-severity = Gravidade
alert-cooldown = Silêncio após disparar, horas
alert-cooldown-help = De 0 a 720.
alert-name-bad = Escreva um nome de 1 a 120 caracteres.
alert-metric-bad = Escolha o que vigiar.
alert-event-bad = Escreva o nome com que o evento é registrado.
alert-comparator-bad = Escolha quando dispara.
alert-threshold-bad = Escreva um número menor que um trilhão com no máximo seis decimais.
alert-window-bad = Este número não é conhecido em tantas horas.
alert-severity-bad = Escolha uma gravidade.
alert-cooldown-bad = Escreva um número inteiro de horas de 0 a 720.
alert-limit = Já há 50 regras, que é o limite. Exclua uma antes.
alert-armed = Vigiando
alert-beyond = Além do limite
alert-off = Silenciada
alert-new = Ainda não avaliada
alert-new-title = Uma regra nova
alert-new-about = Nada é criado ainda: primeiro você vê quantas vezes teria disparado nos últimos 90 dias.
alert-try = Ver quantas vezes teria disparado
alert-make-title = Criar “{ $name }”
alert-make = Criar esta regra
alert-made = Regra criada. É avaliada em minutos.
alert-changed = Regra alterada.
alert-deleted = Regra excluída.
alert-change-title = Alterar a regra
alert-change-about = Uma regra que passa a vigiar outra coisa é armada de novo e esquece o que viu.
alert-change = Salvar
alert-mute = Silenciar
alert-mute-about = Não é avaliada até você ligá-la de novo.
alert-unmute = Ligar
alert-unmute-about = É armada de novo e avaliada em minutos.
alert-delete = Excluir a regra
alert-delete-about = Some para sempre.
trial-untold = As somas dos dias não dizem quantas vezes teria disparado: ela vigia partes de um dia, um evento ou o estoque.
trial-count = { $count_n ->
    [0] Não teria disparado nos últimos { $days } dias.
    [one] Teria disparado uma vez nos últimos { $days } dias, avaliada ao fim de cada dia:
   *[other] Teria disparado { $count } vezes nos últimos { $days } dias, avaliada ao fim de cada dia; as mais novas:
}
comparator-gt = acima do limite
comparator-gte = no limite ou acima
comparator-lt = abaixo do limite
comparator-lte = no limite ou abaixo
condition-gt = { $metric }: mais de { $threshold } em { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
condition-gte = { $metric }: { $threshold } ou mais em { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
condition-lt = { $metric }: menos de { $threshold } em { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
condition-lte = { $metric }: { $threshold } ou menos em { $hours_n ->
    [one] { $hours } hora
   *[other] { $hours } horas
}
watch-orders = Pedidos
watch-revenue = Receita
watch-profit = Lucro
watch-margin = Margem
watch-aov = Pedido médio
watch-refunds = Reembolsos
watch-ad_spend = Gasto com anúncios
watch-roas = ROAS
watch-stockouts = Produtos esgotados
watch-event = Um evento registrado
watch-event-of = Eventos “{ $name }”

firings-title = Quando disparou, o mais novo primeiro
firings-none = Ainda não disparou.
firing-time = Quando
firing-observed = Valor
firing-sent = Entregue
firing-delivered = Entregue: { $delivered } de { $all }
firing-nobody = Nenhum webhook
how-firings = Cada vez que a regra disparou, com o valor que foi visto e o limite que ela tinha então. Entregue conta os webhooks aos quais o evento foi; as entregas são guardadas por um tempo, os disparos por um ano.
