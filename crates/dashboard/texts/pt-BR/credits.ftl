credits-about = O que os recursos de IA custam é pago em créditos. O resto não os usa.
credits-count = { $count_n ->
    [one] { $count } crédito
    [many] { $count } de créditos
   *[other] { $count } créditos
}
credits-paid = Obrigado. Os créditos entram assim que o gateway confirma o pagamento, quase sempre em segundos. Recarregue a página para vê-los.
balance-title = Saldo
balance = Créditos
days-left = Dias restantes
used-lately = { $credits } usados nos últimos { $days } dias
spent-in = Gastos em { $days } dias
spent-before = antes { $credits }
how-runway = Os dias restantes são o saldo dividido pelo que se usou por dia, na média dos últimos 14 dias de 24 horas. Se nada foi usado, não é possível saber.
how-spent = Gasto é o que os recursos de IA levaram menos o que foi devolvido. O devolvido conta no dia da devolução. Os períodos terminam hoje.
used-title = Créditos gastos por dia
line-credits = gastos
used-sum = Créditos gastos nos últimos { $days } dias: { $credits }.
used-most = O dia de maior gasto foi { $day }: { $credits }.
unused = Nada foi gasto ainda
unused-what = Os créditos são gastos quando um recurso de IA é usado, como os textos das novidades. Nenhum foi usado nos últimos 90 dias.
features-title = Em que foram gastos, últimos { $days } dias
features-none = Nenhum recurso de IA foi usado nesse tempo.
feature = Recurso
feature-share = Parte
feature-spent = Créditos gastos
feature-debits = Vezes usado
feature-refunded = Devolvidos
buy-title = Comprar créditos
buy-about = Você paga no gateway de pagamento; nenhum número de cartão chega aqui. Os créditos não vencem.
buy-pack = Quantos
buy-go = Ir ao pagamento
buy-nothing = Nada está à venda: não há gateway de pagamento configurado aqui. Quem opera o serviço pode configurar um, ou dar créditos.
buy-test = Nada é vendido à loja de teste. Passe para a loja real para comprar créditos.
buy-owners = Quem compra créditos são os proprietários da conta.
pack-for = { $credits } por { $price }
checkout-away = O gateway de pagamento não responde. Nada foi cobrado; tente de novo daqui a pouco.
pay-title = Pagar { $credits }
pay-about = O gateway de pagamento em { $host } recebe o pagamento de { $price }. Quando ele confirma, os créditos entram aqui.
pay-go = Pagar { $price }
pay-not = Agora não
auto-title = Recarga automática
auto-set = Alterar a recarga automática
auto-about = A cobrança é no cartão do último pagamento feito à mão. Depois de três falhas seguidas ela é desligada.
auto-on = Ligada: quando restam menos de { $threshold } créditos, são comprados { $credits }.
auto-off = Desligada: quando os créditos acabam, os recursos de IA param até alguém comprar mais.
auto-cap-is = Em um mês (UTC) são comprados no máximo { $credits }.
auto-cap-none = Quanto se compra por mês é limitado só pelo serviço.
auto-last = Última compra: { $time }.
auto-stopped = O serviço a desligou: { $reason }.
auto-stopped-otherwise = O serviço a desligou, e dá este motivo em inglês:
auto-stopped-charged-back = um pagamento foi contestado (chargeback)
auto-stopped-deletion = foi pedida a exclusão da conta
auto-stopped-unknown = durante um dia não se soube se uma cobrança tinha sido feita
auto-stopped-not-credited = uma cobrança foi paga e os créditos não puderam ser adicionados ({ $reason })
auto-stopped-failed = { $count } cobranças seguidas falharam, a última porque { $reason }
auto-failed = { $count_n ->
    [one] A última cobrança falhou: { $reason }.
   *[other] As últimas { $count } cobranças falharam: { $reason }.
}
charge-failure = { $code ->
    [card_declined] o cartão foi recusado
    [expired_card] o cartão está vencido
    [insufficient_funds] o cartão não tem saldo suficiente
    [declined] o pagamento foi recusado
    [rejected] o pagamento foi recusado
    [no_payment_method] não se conhece nenhum cartão de um pagamento feito à mão
    [no_such_pack] nenhum pacote desse tamanho está à venda na moeda da conta
    [unknown_outcome] não se sabe se o cartão foi cobrado
    [no_order] o pagamento não indica nenhum pedido deste serviço
    [unknown_account] o pagamento indica uma conta que não existe
    [sandbox_account] nada é vendido à loja de teste
    [unknown_item] o pagamento indica um pacote que não está à venda
    [currency_mismatch] o pagamento é em outra moeda que o preço
    [amount_mismatch] o pagamento é de outro valor que o preço
    [other_account] o pagamento é de outra conta
   *[other] o gateway de pagamento respondeu “{ $code }”
}
auto-enabled = Recarga automática
auto-enabled-bad = Marque ou não.
auto-enable = Comprar créditos quando restam poucos
auto-threshold = Menos de
auto-threshold-help = Créditos. Um saldo abaixo disso é recarregado.
auto-threshold-bad = Escreva um número inteiro de créditos de 1 a { $limit }.
auto-amount = Comprar
auto-amount-bad = Escolha um dos pacotes.
auto-cap = No máximo por mês
auto-cap-help = Créditos em um mês (UTC). Deixe vazio para o limite do serviço.
auto-cap-bad = Escreva um número inteiro de créditos de { $limit } a { $most }, ou nada.
auto-save = Salvar
auto-saved = A recarga automática foi salva.
how-auto = Uma cobrança espera a pausa entre duas e o limite do mês. O que deu errado aparece até ser ligada de novo.
ledger-title = Extrato, do mais novo ao mais antigo
ledger-none = Nada corresponde. Limpe os filtros.
ledger-time = Hora
ledger-kind = Tipo
ledger-amount = Créditos
ledger-balance = Saldo depois
ledger-consume = Uso
ledger-refund = Devolução
ledger-topup = Compra
ledger-auto_topup = Compra automática
ledger-grant = Cortesia
ledger-adjustment = Correção
how-ledger = Cada mudança do saldo, nunca alterada nem removida. O saldo é a soma de todas.
