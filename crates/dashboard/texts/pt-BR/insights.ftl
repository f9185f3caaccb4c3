insights-open = Abertas
insights-resolved = Concluídas
insights-dismissed = Dispensadas
insights-open-title = O que requer sua atenção, pelo que está em jogo
insights-resolved-title = O que está concluído
insights-dismissed-title = O que você dispensou
insights-open-none = Nada requer sua atenção agora. O que acontecer é contado aqui na manhã seguinte.
insights-resolved-none = Nada foi concluído ainda. O que você termina e o que se resolve sozinho fica aqui.
insights-dismissed-none = Você não dispensou nada.
insight-now-open = Está aberta de novo.
insight-now-resolved = Marcada como concluída. Não volta a aparecer por 7 dias.
insight-now-dismissed = Dispensada. Não volta a aparecer por 14 dias.
insight-as-of = atualizada: { $at }
insight-ended-open = aberta desde: { $at }
insight-ended-resolved = concluída: { $at }
insight-ended-dismissed = dispensada: { $at }
done = Concluir
dismiss = Dispensar
undo = Desfazer
reopen = Abrir de novo
category-ads = Anúncios
category-churn_risk = Clientes em risco
category-inventory = Estoque
category-profit = Lucro
category-revenue = Receita
category-customers = Clientes
category-pricing = Preços
category-integrations = Conexões
category-social = Comentários
how-insights = No máximo sete ficam abertas ao mesmo tempo, as que têm mais em jogo; o que é crítico vem primeiro. Um evento é contado uma vez, por mais números que tenha afetado.
insights-now = Gerar agora
insights-now-what = Elas são geradas toda noite. Também podem ser geradas na hora, com o que se sabe agora.
insights-now-price = Um modelo de linguagem redige o que é novo, por { $credits_n ->
    [one] { $credits } crédito
   *[other] { $credits } créditos
}. Não custa nada quando nada é novo, nem quando um texto não passa na verificação dos números.
insights-now-free = Não custa nada.
insights-now-make = Gerar
insights-under-way = Estão sendo geradas. Esta página se atualiza sozinha.
insights-worded = Geradas agora mesmo, por { $credits_n ->
    [one] { $credits } crédito
   *[other] { $credits } créditos
}.
insights-made = Geradas agora mesmo. Não custou nada.
insights-nothing-new = Nada é novo. Não custou nada.
insights-plain = Geradas agora mesmo, em palavras simples: um texto do modelo de linguagem não passou na verificação dos números. Não custou nada.
insights-failed = O modelo de linguagem não deu nenhum texto. Não custou nada. Tente mais tarde.
insights-paused = A IA está pausada para esta loja, então nada foi pedido.
insights-insufficient = Os créditos não bastam, então nada foi pedido.
