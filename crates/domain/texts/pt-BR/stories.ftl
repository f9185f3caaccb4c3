# One event, told once: what was seen on the day that departed most, what it was worth, what was normal, and whether it is over.

insight-story =
    .title = { $what ->
        [closed_day] Nada foi vendido { $day_on }
        [platform] { $direction ->
            [down] { platform } vendeu muito menos que o normal { $day_on }
           *[up] { platform } vendeu muito mais que o normal { $day_on }
        }
        [country] { $direction ->
            [down] Pedidos { $part_from } muito abaixo do normal { $day_on }
           *[up] Pedidos { $part_from } muito acima do normal { $day_on }
        }
        [product] { $direction ->
            [down] { $part } vendeu muito menos que o normal { $day_on }
           *[up] { $part } vendeu muito mais que o normal { $day_on }
        }
        [stock_out] { $state ->
            [over] { $part } ficou sem estoque { $day_on }
           *[other] { $part } está sem estoque
        }
        [campaign] { $direction ->
            [down] Gasto com a campanha { $part } muito abaixo do normal { $day_on }
           *[up] Gasto com a campanha { $part } muito acima do normal { $day_on }
        }
        [ads] { $direction ->
            [down] Gasto com anúncios muito abaixo do normal { $day_on }
           *[up] Gasto com anúncios muito acima do normal { $day_on }
        }
        [paid_campaign] Mais anúncios e muito mais vendas que o normal { $day_on }
        [paid_ads] Mais anúncios e muito mais vendas que o normal { $day_on }
        [price] { $direction ->
            [down] Preços muito abaixo do normal { $day_on }
           *[up] Preços muito acima do normal { $day_on }
        }
        [bulk_order] { $direction ->
            [down] Pedidos muito menores que o normal { $day_on }
           *[up] Pedidos muito maiores que o normal { $day_on }
        }
        [traffic] { $direction ->
            [down] Muito menos visitas que o normal { $day_on }
           *[up] Muito mais visitas que o normal { $day_on }
        }
        [conversion] { $direction ->
            [down] Muito menos visitantes compraram que o normal { $day_on }
           *[up] Muito mais visitantes compraram que o normal { $day_on }
        }
        [tracking] { $direction ->
            [down] Ficaram visitas sem contar { $day_on }
           *[up] Foram contadas visitas a mais { $day_on }
        }
        [refunded_product] { $direction ->
            [down] Reembolsos de { $part } muito abaixo do normal { $day_on }
           *[up] Reembolsos de { $part } muito acima do normal { $day_on }
        }
        [refund] { $direction ->
            [down] Reembolsos muito abaixo do normal { $day_on }
           *[up] Reembolsos muito acima do normal { $day_on }
        }
        [cost] { $direction ->
            [down] Cada unidade custou muito menos que o normal { $day_on }
           *[up] Cada unidade custou muito mais que o normal { $day_on }
        }
        [expense] { $direction ->
            [down] Despesas muito abaixo do normal { $day_on }
           *[up] Despesas muito acima do normal { $day_on }
        }
        [profit] { $direction ->
            [down] Lucro muito abaixo do normal { $day_on }
           *[up] Lucro muito acima do normal { $day_on }
        }
       *[sales] { $direction ->
            [down] Vendas muito abaixo do normal { $day_on }
           *[up] Vendas muito acima do normal { $day_on }
        }
    }
    .body = { $what ->
        [closed_day] Nada foi vendido { $day_on }; o normal seria cerca de { $expected_n ->
                [one] { $expected } pedido.
               *[other] { $expected } pedidos.
            }
        [platform] { $observed_n ->
            [0] { platform } não vendeu nada { $day_on }; o normal seria cerca de { $expected_n ->
                [one] { $expected } pedido.
               *[other] { $expected } pedidos.
            }
            [one] { platform } teve { $observed } pedido { $day_on }; o normal seria cerca de { $expected }.
           *[other] { platform } teve { $observed } pedidos { $day_on }; o normal seria cerca de { $expected }.
        }
        [country] { $observed_n ->
            [0] Nenhum pedido { $part_from } chegou { $day_on }; o normal seria cerca de { $expected }.
            [one] { $observed } pedido { $part_from } chegou { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $observed } pedidos { $part_from } chegaram { $day_on }; o normal seria cerca de { $expected }.
        }
        [product] { $observed_n ->
            [0] { $part } não vendeu nada { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $part } vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }.
        }
        [stock_out] { $observed_n ->
            [0] Sem estoque, { $part } não vendeu nada { $day_on }; o normal seria cerca de { $expected }.
           *[other] Sem estoque, { $part } vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }.
        }
        [campaign] { $observed_n ->
            [0] Você não gastou nada com a campanha { $part } { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você gastou { $observed } com a campanha { $part } { $day_on }; o normal seria cerca de { $expected }.
        }
        [ads] { $observed_n ->
            [0] Você não gastou nada com anúncios { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você gastou { $observed } com anúncios { $day_on }; o normal seria cerca de { $expected }.
        }
        [paid_campaign] Você vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }. Também se gastou mais que o normal com a campanha { $part }.
        [paid_ads] Você vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }. Também se gastou mais que o normal com anúncios.
        [price] A unidade média foi vendida a { $observed } { $day_on }; o normal seria cerca de { $expected }.
        [bulk_order] Você vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }. Alguns pedidos foram muito maiores que os demais.
        [traffic] { $observed_n ->
            [0] Nenhuma visita veio { $day_on }; o normal seria cerca de { $expected }.
            [one] { $observed } visita veio { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $observed } visitas vieram { $day_on }; o normal seria cerca de { $expected }.
        }
        [conversion] { $observed_n ->
            [0] Nenhum pedido veio { $day_on }; o normal seria cerca de { $expected }.
            [one] { $observed } pedido veio { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $observed } pedidos vieram { $day_on }; o normal seria cerca de { $expected }.
        }
        [tracking] { $observed_n ->
            [0] Nenhuma visita foi contada { $day_on }; o normal seria cerca de { $expected }.
            [one] { $observed } visita foi contada { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $observed } visitas foram contadas { $day_on }; o normal seria cerca de { $expected }.
        }
        [refunded_product] { $observed_n ->
            [0] Você não reembolsou nada de { $part } { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você reembolsou { $observed } de { $part } { $day_on }; o normal seria cerca de { $expected }.
        }
        [refund] { $observed_n ->
            [0] Você não reembolsou nada { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você reembolsou { $observed } { $day_on }; o normal seria cerca de { $expected }.
        }
        [cost] Mercadoria, taxas e frete somaram { $observed } por unidade { $day_on }; o normal seria cerca de { $expected }.
        [expense] { $observed_n ->
            [0] Nenhuma outra despesa foi lançada para { $day }; o normal seria cerca de { $expected }.
           *[other] As outras despesas de { $day }, somaram { $observed }; o normal seria cerca de { $expected }.
        }
        [profit] O lucro foi de { $observed } { $day_on }; o normal seria cerca de { $expected }. As vendas foram mais ou menos normais.
       *[sales] Você vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }. Os dados não mostram o motivo.
    }{ $has_share ->
        [yes] {" "}Isso é { $share } da diferença (confiança: { $confidence }).
       *[no] {""}
    }{ $record ->
        [year] {" "}Foi o melhor dia em um ano.
        [ever] {" "}Foi o melhor dia até agora.
       *[none] {""}
    }{ $normal ->
        [others] {" "}Todo o resto junto esteve no nível normal.
        [visitors] {" "}As visitas estiveram no nível normal.
        [orders] {" "}O número de pedidos foi normal.
       *[unknown] {""}
    }{ $money ->
        [less_profit] { $days_n ->
            [one] {" "}São cerca de { $amount } a menos de lucro que o normal (de { $least } a { $most }).
           *[other] {" "}Em { $days } dias são cerca de { $amount } a menos de lucro que o normal (de { $least } a { $most }).
        }
        [more_profit] { $days_n ->
            [one] {" "}São cerca de { $amount } a mais de lucro que o normal (de { $least } a { $most }).
           *[other] {" "}Em { $days } dias são cerca de { $amount } a mais de lucro que o normal (de { $least } a { $most }).
        }
        [less_sales] { $days_n ->
            [one] {" "}São cerca de { $amount } a menos em vendas que o normal (de { $least } a { $most }).
           *[other] {" "}Em { $days } dias são cerca de { $amount } a menos em vendas que o normal (de { $least } a { $most }).
        }
        [more_sales] { $days_n ->
            [one] {" "}São cerca de { $amount } a mais em vendas que o normal (de { $least } a { $most }).
           *[other] {" "}Em { $days } dias são cerca de { $amount } a mais em vendas que o normal (de { $least } a { $most }).
        }
       *[none] {""}
    }{ $has_returned ->
        [yes] {" "}Já foram descontados cerca de { $returned } (estimados) de toda a mercadoria devolvida.
       *[no] {""}
    }{ $state ->
        [open] {" "}Termina quando { $back ->
            [stock] houver estoque de { $part } de novo.
            [visits] as visitas voltarem a ser contadas como sempre.
            [low] o número diário voltar a { $low } ou mais.
            [high] o número diário voltar a { $high } ou menos.
           *[normal] os dias voltarem ao normal.
        }
        [goes_on] {" "}Continua desde { $first }, e termina quando { $back ->
            [stock] houver estoque de { $part } de novo.
            [visits] as visitas voltarem a ser contadas como sempre.
            [low] o número diário voltar a { $low } ou mais.
            [high] o número diário voltar a { $high } ou menos.
           *[normal] os dias voltarem ao normal.
        }
        [usual] {" "}Continua desde { $first }, e já conta como o normal.
       *[over] { $back ->
            [stock] {" "}Já terminou: { $since_on }, houve estoque de novo.
           *[other] {" "}Já terminou: { $since_on }, isso voltou ao normal.
        }
    }
    .action = { $action ->
        [check_checkout] { $what ->
            [platform] Faça um pedido de teste { on-platform } e verifique o checkout e os pagamentos.
            [country] Faça um pedido de teste com um endereço { $part_from } e verifique ali os pagamentos e o frete.
           *[other] Faça um pedido de teste e verifique o checkout e os pagamentos.
        }
        [check_shop] Verifique se a loja está aberta e recebe pedidos.
        [check_prices] Verifique os últimos preços que foram alterados.
        [check_refunds] { $what ->
            [refunded_product] Veja o que os compradores de { $part } escreveram, a descrição e a última entrega.
           *[other] Veja quais produtos foram reembolsados e o que os compradores escreveram.
        }
        [check_tracking] Verifique o código que conta as visitas, em cada página da loja.
        [check_traffic_sources] Verifique de onde vêm as visitas: anúncios, buscas e e-mails.
        [pause_campaign] { $what ->
            [campaign] Pause a campanha { $part } ou reduza o orçamento até que ela renda.
            [paid_campaign] Pause a campanha { $part } ou reduza o orçamento até que ela renda.
           *[other] Procure a campanha que gasta mais e pause-a ou reduza o orçamento.
        }
        [keep_campaign] { $what ->
            [paid_campaign] Mantenha a campanha { $part } e aumente o orçamento aos poucos enquanto ela render.
           *[other] Procure a campanha que trouxe as vendas e aumente o orçamento aos poucos enquanto ela render.
        }
        [reorder] Reponha { $part } hoje ou tire-o da loja até que volte.
        [serve_bulk_buyer] Veja os maiores pedidos, verifique o estoque para eles e mantenha contato com os compradores.
        [compare_costs] Compare os custos de mercadoria, taxas e frete com os dos dias anteriores.
        [check_expenses] Verifique as despesas de { $day }: pode haver alguma repetida ou que seja também de outros dias.
        [check_product] Verifique a página, o preço e o estoque de { $part }.
        [keep_in_stock] Verifique se o estoque de { $part } basta e mostre-o em mais lugares.
        [repeat_it] Procure o que foi diferente { $day_on }, e repita.
        [ask_supplier] Há unidades de { $part } a caminho: pergunte ao fornecedor quando chegam e diga isso na loja.
        [check_ads] Verifique se os anúncios foram parados de propósito e como são pagos.
        [prevent_it] Já voltou ao normal. Cuide para que não aconteça de novo.
       *[look_at_the_day] Verifique o que foi diferente { $day_on }: a loja, os preços, o estoque e os anúncios.
    }
    .impact = { $money ->
        [less_profit] { $amount } de lucro a menos que o normal
        [more_profit] { $amount } de lucro a mais que o normal
        [less_sales] { $amount } de vendas a menos que o normal
        [more_sales] { $amount } de vendas a mais que o normal
       *[none] As vendas seguem, mas não confie nas visitas nem na conversão
    }

insight-weekly-digest =
    .title = Sua semana de { $first }, a { $last }
    .body = Vendas menos reembolsos: { $net_revenue } (antes: { $net_revenue_before }). Pedidos: { $orders } ({ $orders_before }). Lucro: { $profit } ({ $profit_before }). Anúncios: { $ad_spend } ({ $ad_spend_before }). Clientes novos: { $new_customers } ({ $new_customers_before }).{ $happened ->
        [yes] {" "}O que se destacou: { $stories }.
       *[no] {" "}Nenhum fato isolado se destacou.
    }
    .action = { $has_todo ->
        [yes] { $todo }
       *[no] Veja o que está pendente.
    }
    .impact = { $profit } de lucro na semana

insight-record-day =
    .title = { $reach ->
        [year] Seu melhor dia em um ano foi { $day }
       *[ever] Seu melhor dia até agora foi { $day }
    }
    .body = Você vendeu { $sales } { $day_on }, { $orders_n ->
        [one] em { $orders } pedido
       *[other] em { $orders } pedidos
    }. O melhor dia antes disso foi { $record_day }, com { $record }.
    .action = Procure o que foi diferente { $day_on }, e repita.
    .impact = { $sales } em um dia

insight-profit-rose =
    .title = O lucro subiu nos últimos { $days } dias
    .body = Nos últimos { $days } dias o lucro foi de { $profit }, contra { $profit_before } nos { $days } dias anteriores. A receita líquida passou de { $net_revenue_before } para { $net_revenue }, e todos os custos juntos, de { $costs_before } para { $costs }.{ $has_returned ->
        [yes] {" "}Desses custos foram descontados, por estimativa, { $returned } de produtos devolvidos.
       *[no] {""}
    }
    .action = Veja quais produtos e canais venderam mais e dê mais espaço a eles.
    .impact = { $gained } a mais de lucro em { $days } dias
