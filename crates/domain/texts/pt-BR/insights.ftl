# What a person should know or do. Each has a title, a body, what to do, and what is at stake.

insight-anomaly =
    .title = { $metric ->
        [gross_revenue] { $direction ->
            [down] Vendas muito abaixo do normal { $day_on }
           *[up] Vendas muito acima do normal { $day_on }
        }
        [orders] { $direction ->
            [down] Muito menos pedidos que o normal { $day_on }
           *[up] Muito mais pedidos que o normal { $day_on }
        }
        [refunds] { $direction ->
            [down] Reembolsos muito abaixo do normal { $day_on }
           *[up] Reembolsos muito acima do normal { $day_on }
        }
        [profit] { $direction ->
            [down] Lucro muito abaixo do normal { $day_on }
           *[up] Lucro muito acima do normal { $day_on }
        }
        [ad_spend] { $direction ->
            [down] Gasto com anúncios muito abaixo do normal { $day_on }
           *[up] Gasto com anúncios muito acima do normal { $day_on }
        }
        [roas] { $direction ->
            [down] Os anúncios renderam muito menos que o normal { $day_on }
           *[up] Os anúncios renderam muito mais que o normal { $day_on }
        }
        [cac] { $direction ->
            [down] Conquistar clientes custou muito menos que o normal { $day_on }
           *[up] Conquistar clientes custou muito mais que o normal { $day_on }
        }
        [new_customers] { $direction ->
            [down] Muito menos clientes novos que o normal { $day_on }
           *[up] Muito mais clientes novos que o normal { $day_on }
        }
        [conversion] { $direction ->
            [down] Conversão muito abaixo do normal { $day_on }
           *[up] Conversão muito acima do normal { $day_on }
        }
       *[aov] { $direction ->
            [down] Pedidos muito menores que o normal { $day_on }
           *[up] Pedidos muito maiores que o normal { $day_on }
        }
    }
    .body = { $metric ->
        [gross_revenue] { $observed_n ->
            [0] Você não vendeu nada { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você vendeu { $observed } { $day_on }; o normal seria cerca de { $expected }.
        }
        [orders] { $observed_n ->
            [0] Nenhum pedido entrou { $day_on }; o normal seria cerca de { $expected }.
            [one] { $observed } pedido entrou { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $observed } pedidos entraram { $day_on }; o normal seria cerca de { $expected }.
        }
        [refunds] { $observed_n ->
            [0] Você não reembolsou nada { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você reembolsou { $observed } { $day_on }; o normal seria cerca de { $expected }.
        }
        [profit] O lucro foi de { $observed } { $day_on }; o normal seria cerca de { $expected }.
        [ad_spend] { $observed_n ->
            [0] Você não gastou nada com anúncios { $day_on }; o normal seria cerca de { $expected }.
           *[other] Você gastou { $observed } com anúncios { $day_on }; o normal seria cerca de { $expected }.
        }
        [roas] Os anúncios trouxeram { $observed } vezes o que custaram { $day_on }; o normal seria cerca de { $expected }.
        [cac] Cada cliente novo custou { $observed } em anúncios { $day_on }; o normal seria cerca de { $expected }.
        [new_customers] { $observed_n ->
            [0] Nenhum cliente novo comprou { $day_on }; o normal seria cerca de { $expected }.
            [one] { $observed } cliente novo comprou { $day_on }; o normal seria cerca de { $expected }.
           *[other] { $observed } clientes novos compraram { $day_on }; o normal seria cerca de { $expected }.
        }
        [conversion] { $observed } dos visitantes compraram { $day_on }; o normal seria cerca de { $expected }.
       *[aov] O pedido médio foi de { $observed } { $day_on }; o normal seria cerca de { $expected }.
    }{ $lasting ->
        [yes] {" "}Está assim há { $lasting_days } dias.
       *[no] {""}
    } { $known ->
        [yes] { $cause }
       *[no] Os dados não mostram o motivo.
    }
    .action = Verifique o que foi diferente { $day_on }: a loja, os preços, o estoque e os anúncios.
    .impact = { $metric ->
        [roas] { $direction ->
            [down] Um retorno { $gap } menor que o normal nesse dia
           *[up] Um retorno { $gap } maior que o normal nesse dia
        }
        [cac] { $direction ->
            [down] { $gap } a menos que o normal por cliente novo nesse dia
           *[up] { $gap } a mais que o normal por cliente novo nesse dia
        }
        [new_customers] { $direction ->
            [down] { $gap_n ->
                [one] { $gap } cliente novo a menos que o normal nesse dia
               *[other] { $gap } clientes novos a menos que o normal nesse dia
            }
           *[up] { $gap_n ->
                [one] { $gap } cliente novo a mais que o normal nesse dia
               *[other] { $gap } clientes novos a mais que o normal nesse dia
            }
        }
        [aov] { $direction ->
            [down] { $gap } a menos que o normal por pedido nesse dia
           *[up] { $gap } a mais que o normal por pedido nesse dia
        }
       *[other] { $direction ->
            [down] { $gap } a menos que o normal nesse dia
           *[up] { $gap } a mais que o normal nesse dia
        }
    }

insight-loss =
    .title = Os últimos { $days } dias deram prejuízo
    .body = Nos últimos { $days } dias você perdeu { $lost }; nos { $days } dias anteriores, o lucro foi de { $profit_before }. A receita líquida passou de { $net_revenue_before } para { $net_revenue }, e todos os custos juntos, de { $costs_before } para { $costs }.{ $has_returned ->
        [yes] {" "}Desses custos foram descontados, por estimativa, { $returned } de produtos devolvidos.
       *[no] {""}
    }
    .action = Compare os custos dos dois períodos nos números diários de lucro.
    .impact = Um prejuízo de { $lost } em { $days } dias

insight-profit-fell =
    .title = O lucro caiu nos últimos { $days } dias
    .body = Nos últimos { $days } dias o lucro foi de { $profit }, contra { $profit_before } nos { $days } dias anteriores. A receita líquida passou de { $net_revenue_before } para { $net_revenue }, e todos os custos juntos, de { $costs_before } para { $costs }.{ $has_returned ->
        [yes] {" "}Desses custos foram descontados, por estimativa, { $returned } de produtos devolvidos.
       *[no] {""}
    }
    .action = Compare os custos dos dois períodos nos números diários de lucro.
    .impact = { $lost } a menos de lucro em { $days } dias

insight-ads-return-less =
    .title = Os anúncios rendem menos do que antes
    .body = Os anúncios trouxeram { $roas } vezes o que custaram nos últimos { $days } dias, contra { $roas_before } nos { $days } dias anteriores. Você gastou { $spent } com eles.
    .action = Veja as campanhas que mais gastam e pause as que não trazem pedidos.
    .impact = { $spent } de gasto com anúncios com o rendimento menor

insight-new-customers-cost-more =
    .title = Conquistar clientes custa mais do que antes
    .body = { $new_customers_n ->
        [one] Cada cliente novo custou { $cac } em anúncios nos últimos { $days } dias, contra { $cac_before } nos { $days } dias anteriores. Veio { $new_customers } cliente novo, contra { $new_customers_before } antes.
       *[other] Cada cliente novo custou { $cac } em anúncios nos últimos { $days } dias, contra { $cac_before } nos { $days } dias anteriores. Vieram { $new_customers } clientes novos, contra { $new_customers_before } antes.
    }
    .action = Compare com o que um cliente novo traz ao longo do tempo.
    .impact = { $more } a mais por cliente novo

insight-sold-out =
    .title = { $products_n ->
        [one] { $products } produto com vendas está sem estoque
       *[other] { $products } produtos com vendas estão sem estoque
    }
    .body = { $others_n ->
        [0] Não há mais estoque de { $skus }.
       *[other] Não há mais estoque de { $skus_listed } e mais { $others }.
    } { $products_n ->
        [one] Ele vendeu nos últimos { $days } dias.
       *[other] Todos venderam nos últimos { $days } dias.
    }
    .action = { $products_n ->
        [one] Reponha ou tire o produto da loja até ele voltar.
       *[other] Reponha ou tire os produtos da loja até eles voltarem.
    }
    .impact = { $products_n ->
        [one] A cada dia se perdem as vendas de { $products } produto
       *[other] A cada dia se perdem as vendas de { $products } produtos
    }

insight-running-out =
    .title = { $products_n ->
        [one] { $products } produto vai acabar em até { $days } dias
       *[other] { $products } produtos vão acabar em até { $days } dias
    }
    .body = { $others_n ->
        [0] No ritmo atual, o estoque de { $skus } dura no máximo { $days } dias.
       *[other] No ritmo atual, o estoque de { $skus_listed } e mais { $others } dura no máximo { $days } dias.
    }
    .action = { $products_n ->
        [one] Reponha agora.
       *[other] Reponha-os agora.
    }
    .impact = { $products_n ->
        [one] { $products } produto prestes a acabar
       *[other] { $products } produtos prestes a acabar
    }

insight-reorders =
    .title = { $items_n ->
        [one] { $items } sugestão de reposição para decidir
       *[other] { $items } sugestões de reposição para decidir
    }
    .body = { $items_n ->
        [one] { $items } item acabaria se você o pedisse mais tarde. A sugestão mostra os seus números.
       *[other] { $items } itens acabariam se você os pedisse mais tarde. Cada sugestão mostra os seus números.
    }
    .action = Veja as sugestões de reposição pendentes.
    .impact = { $items_n ->
        [one] { $items } item em risco de acabar
       *[other] { $items } itens em risco de acabar
    }

insight-customers-at-risk =
    .title = { $customers_n ->
        [one] { $customers } bom cliente não volta há muito tempo
       *[other] { $customers } bons clientes não voltam há muito tempo
    }
    .body = { $customers_n ->
        [one] Este cliente gastou { $revenue } até agora, { $share } do que todos os clientes gastaram, e está sem comprar há mais tempo que a maioria.
       *[other] Eles gastaram { $revenue } até agora, { $share } do que todos os clientes gastaram, e estão sem comprar há mais tempo que a maioria.
    }
    .action = Escreva para os clientes do segmento { $segment }.
    .impact = { $revenue } das vendas passadas vieram deles

insight-stale-shop =
    .title = Sem dados de { $shop } desde { $day }
    .body = A última sincronização da loja { $shop } ({ platform }) foi { $day_on } (UTC).
    .action = Verifique a conexão e, se preciso, conecte a loja de novo.
    .impact = Os números dos dias posteriores estão incompletos
