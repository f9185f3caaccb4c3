ads = Anúncios
creatives = Criativos
ads-account = Contas
ads-campaign = Campanhas
ads-ad_set = Conjuntos
ads-ad = Anúncios
ads-account-title = Contas de anúncios, pelo que foi gasto
ads-campaign-title = Campanhas, pelo que foi gasto
ads-ad_set-title = Conjuntos de anúncios, pelo que foi gasto
ads-ad-title = Anúncios, pelo que foi gasto
ads-totals-title = Tudo junto, ao lado do que a loja recebeu
ads-none = Nada se sabe de publicidade nestes dias. Importe um arquivo de gastos com anúncios ou conecte uma plataforma.
ads-rows-none = Nestes dias nada rodou neste nível. Escolha outros dias ou outro nível.
ads-spend = Gasto
ads-clicks = Cliques
ads-purchases = Compras (plataf.)
ads-revenue = Receita (plataf.)
ads-cpa = Gasto por compra
ads-roas = Receita por gasto (plataf.)
ads-own-revenue = Receita líquida da loja
ads-mer = Receita líquida da loja por gasto
ads-tacos = Gasto por receita líquida da loja
ads-about = { $platform } · { $status }
ads-on-meta = Meta
ads-on-google = Google
ads-on-mercadolibre = Mercado Livre
ads-on-manual = Outra plataforma
ads-active = ativo
ads-paused = pausado
ads-archived = arquivado
ads-lack-rates = Parte do gasto está em uma moeda sem taxa de câmbio: não está em nenhuma soma. Importe as taxas.
ads-other-clock = Algumas contas têm outro fuso horário que o da loja: uma venda perto da meia-noite pode ser contada um dia antes ou depois.
how-ads = Somas do que plataformas e arquivos dizem. Compras e receita são o que a plataforma afirma, por suas próprias regras; um traço é o que ela não diz. Cada razão é de somas; o gasto por compra e a receita por gasto da plataforma contam só o gasto cujo resultado é informado.
how-ads-own = A receita líquida da loja é de todos os pedidos destes dias, venham de onde vierem.
creatives-title = Criativos de cada campanha, os vencedores primeiro
creatives-caveat = A plataforma escolhe quem vê cada anúncio, então isto não é um experimento: um vencedor foi melhor onde foi exibido.
creatives-none = Nenhum criativo com este estado foi exibido nestes dias.
creatives-not-yet = Nada foi comparado ainda. É feito toda noite.
creatives-all = Todos
creative = Criativo
creative-verdict = Estado
creative-lift = Melhor em
creative-evidence = Evidência (10 decide)
creative-winner = Vencedor
creative-leading = Na frente
creative-testing = Sem diferença clara
creative-insufficient_data = Faltam dados
creative-faded = Foi vencedor
creative-losing = Perde
creative-video = Vídeo
creative-image = Imagem
creative-carousel = Carrossel
creative-text = Texto
creative-unknown = Formato desconhecido
needs = falta: { $what }
needs-purchases = { $purchases_n ->
    [one] { $purchases } compra
   *[other] { $purchases } compras
}
needs-days = { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
}
needs-spend = { $amount } de gasto
needs-others = compras de outros criativos do seu conjunto de anúncios nos mesmos dias
how-creatives = Cada criativo é comparado com os outros de sua campanha, dentro de conjuntos e dias, pelo que foi comprado com o gasto. A evidência vale por mais vezes que se olhe. Os três dias mais novos ficam de fora, pois as plataformas ainda lhes atribuem compras.
how-creatives-lift = A diferença mostrada é moderada pelo que se sabe de diferenças assim, com uma faixa que acerta 19 de cada 20 vezes: os vencedores costumam parecer melhores do que são.
how-creatives-needs = São precisas 10 compras de um criativo, 100 de sua campanha, 3 dias, e tanto gasto quanto metade dos criativos da campanha. Só mais cliques põem um criativo na frente, e não o fazem vencedor.
