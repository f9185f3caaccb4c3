# What a person should know or do. Each has a title, a body, what to do, and what is at stake.

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
    .body = Os anúncios trouxeram { $roas } vezes o que custaram nos últimos { $days } dias, contra { $roas_before } nos { $days } dias anteriores. Você gastou { $spent } com eles; contam todas as vendas da loja.
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
    .action = { $ordered ->
        [all] Tudo já foi pedido: pergunte aos fornecedores quando chega e diga isso na loja.
        [some] Reponha o que ainda não foi pedido e pergunte aos fornecedores quando chega o resto.
       *[none] { $products_n ->
            [one] Reponha ou tire o produto da loja até ele voltar.
           *[other] Reponha ou tire os produtos da loja até eles voltarem.
        }
    }
    .impact = { $valued ->
        [yes] A cada dia se perdem cerca de { $daily } em vendas
       *[no] { $products_n ->
            [one] A cada dia se perdem as vendas de { $products } produto
           *[other] A cada dia se perdem as vendas de { $products } produtos
        }
    }

insight-running-out =
    .title = { $products_n ->
        [one] { $products } produto vai acabar em até { $days } dias
       *[other] { $products } produtos vão acabar em até { $days } dias
    }
    .body = { $dated ->
        [yes] { $products_n ->
            [one] No ritmo atual, o estoque de { $skus } dura até { $day }.
           *[other] { $others_n ->
                [0] No ritmo atual, o estoque de { $skus } dura no máximo { $days } dias; o de { $first }, só até { $day }.
               *[other] No ritmo atual, o estoque de { $skus_listed } e mais { $others } dura no máximo { $days } dias; o de { $first }, só até { $day }.
            }
        }
       *[no] { $others_n ->
            [0] No ritmo atual, o estoque de { $skus } dura no máximo { $days } dias.
           *[other] No ritmo atual, o estoque de { $skus_listed } e mais { $others } dura no máximo { $days } dias.
        }
    }
    .action = { $ordered ->
        [all] Tudo já foi pedido: pergunte aos fornecedores quando chega.
        [some] Reponha o que ainda não foi pedido e pergunte aos fornecedores quando chega o resto.
       *[none] { $products_n ->
            [one] Reponha agora.
           *[other] Reponha-os agora.
        }
    }
    .impact = { $products_n ->
        [one] { $products } produto prestes a acabar
       *[other] { $products } produtos prestes a acabar
    }

insight-reorders =
    .title = { $items_n ->
        [one] { $items } item para repor antes que acabe
       *[other] { $items } itens para repor antes que acabem
    }
    .body = { $due ->
        [in_time] { $items_n ->
            [one] Peça { $first } até { $day }, para que chegue a tempo.
           *[other] { $others_n ->
                [0] { $skus } podem acabar se você os pedir mais tarde. Peça { $first } até { $day }.
               *[other] { $skus_listed } e mais { $others } podem acabar se você os pedir mais tarde. Peça { $first } até { $day }.
            }
        }
        [late] { $items_n ->
            [one] { $first } vai acabar antes que um novo pedido chegue.
           *[other] { $others_n ->
                [0] { $skus } podem acabar se você os pedir mais tarde. { $first } vai acabar antes que um novo pedido chegue.
               *[other] { $skus_listed } e mais { $others } podem acabar se você os pedir mais tarde. { $first } vai acabar antes que um novo pedido chegue.
            }
        }
       *[unknown] { $items_n ->
            [one] { $items } item pode acabar se você o pedir mais tarde. A sugestão mostra os seus números.
           *[other] { $items } itens podem acabar se você os pedir mais tarde. Cada sugestão mostra os seus números.
        }
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
    .action = Escreva para os clientes em risco.
    .impact = { $customers_n ->
        [one] { $revenue } das vendas passadas vieram deste cliente
       *[other] { $revenue } das vendas passadas vieram deles
    }

insight-comments-waiting =
    .title = { $comments_n ->
        [one] { $comments } comentário espera resposta há mais de um dia
       *[other] { $comments } comentários esperam resposta há mais de um dia
    }
    .body = { $complaints_n ->
        [0] O mais antigo espera desde { $day }. Nenhuma reclamação está em espera.
        [one] O mais antigo espera desde { $day }. { $complaints } é uma reclamação.
       *[other] O mais antigo espera desde { $day }. { $complaints } deles são reclamações.
    }
    .action = { $complaints_n ->
        [0] Responda o que está em espera.
       *[other] Responda o que está em espera, primeiro as reclamações.
    }
    .impact = { $comments_n ->
        [one] { $comments } pessoa está sem resposta
       *[other] { $comments } pessoas estão sem resposta
    }

insight-product-took-off =
    .title = { $product } decolou: { $purchases } compras em { $days } dias
    .body = Os últimos { $days } dias trouxeram { $purchases } compras de { $product }, { $units } unidades ao todo. Nos { $before } dias anteriores, { $days } dias trouxeram { $usual } em média e { $most } no máximo. São cerca de { $sales } a mais em vendas.{ $stocked ->
        [unknown] {""}
        [out] {" "}Não há estoque.
        [awaited] {" "}Não há estoque.
       *[other] {" "}Nesse ritmo, o estoque de { $stock } dura { $cover_n ->
            [one] { $cover } dia.
           *[other] { $cover } dias.
        }
    }
    .action = { $stocked ->
        [short] Reponha { $product } antes que acabe.
        [out] Reponha { $product } ou tire o produto da loja até ele voltar.
        [awaited] Há unidades de { $product } a caminho: pergunte ao fornecedor quando chegam e diga isso na loja.
       *[other] Mostre { $product } com mais destaque enquanto vende.
    }
    .impact = { $sales } a mais em vendas em { $days } dias

insight-campaign-pays =
    .title = { $campaign } traz { $roas } vezes o que custa
    .body = Em { $days } dias foram gastos { $spent } em { $campaign }. Segundo as contas da própria plataforma, a campanha trouxe { $sales } em vendas. Ela se paga a partir de { $least } vezes o custo.{ $others ->
        [yes] {" "}Suas outras campanhas trazem { $roas_others } vezes o que custam.
       *[no] {""}
    }
    .action = Dê mais orçamento a { $campaign } aos poucos, enquanto as vendas acompanharem.
    .impact = { $others ->
        [yes] Cerca de { $gain } a mais de lucro do que o mesmo dinheiro traz nas suas outras campanhas
       *[no] Cerca de { $gain } de lucro de { $campaign } em { $days } dias
    }

insight-stale-shop =
    .title = Sem dados de { $shop } desde { $day }
    .body = { $source ->
        [ads] A última sincronização da conta de anúncios { $shop } ({ platform }) foi { $day_on }.
       *[shop] A última sincronização da loja { $shop } ({ platform }) foi { $day_on }.
    }{ $ended ->
        [yes] {" "}{ platform } deixou de aceitar a conexão.
       *[no] {""}
    }
    .action = { $ended ->
        [yes] Conecte de novo.
       *[no] { $source ->
            [ads] Verifique a conexão e, se preciso, conecte a conta de novo.
           *[shop] Verifique a conexão e, se preciso, conecte a loja de novo.
        }
    }
    .impact = Os números dos dias posteriores estão incompletos
