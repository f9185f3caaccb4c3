webhooks-about = Um webhook envia o que acontece nesta loja a um endereço seu, no momento em que acontece.
webhooks-title = { $count_n ->
    [one] { $count } webhook
   *[other] { $count } webhooks
}
webhooks-none = Ainda não há nenhum webhook. Informe um endereço abaixo, escolha o que é enviado para lá e mande um teste a si mesmo.
webhook-url = Endereço
webhook-events = Eventos
webhook-state = Estado
webhook-share = Entregue em 24 horas
webhook-last = Última tentativa
events-all = os { $count } do catálogo
events-some = { $count_n ->
    [one] { $count } evento
   *[other] { $count } eventos
}
share-of = { $delivered } de { $all }
nothing-sent = nada enviado
hook-working = Funciona
hook-failing = Falha
hook-breaker = Disjuntor aberto
hook-off = Desligado
hook-working-what = A última tentativa deu certo, ou ainda não houve nenhuma.
hook-failing-what = { $count_n ->
    [one] A última tentativa falhou. O que espera é tentado de novo, cada vez após uma pausa maior; um teste não.
   *[other] As últimas { $count } tentativas falharam. O que espera é tentado de novo, cada vez após uma pausa maior; um teste não.
}
hook-breaker-what = As últimas { $count } tentativas falharam. Até que uma dê certo, as entregas saem uma a uma, com pausas de até 5 minutos; isso não lhes custa nenhuma tentativa.
hook-off-owner = Pausado aqui ou pela API. O que acontece é guardado, e é enviado quando você o ligar e pedir.
hook-off-gone = O receptor respondeu 410: não quer mais nada. O que acontece é guardado.
hook-off-failing = Nada deu certo durante cinco dias. O que acontece é guardado, e é enviado quando você o ligar e pedir.
webhook-new = Adicionar um webhook
webhook-create = Adicionar webhook
webhook-url-help = Começa com https:// e é alcançado pela Internet. Se o receptor recusar uma requisição, o motivo aparece nas entregas dele.
webhook-url-bad = Este endereço não pode ser usado: { $reason ->
    [not_https] não começa com https://
    [private_host] leva a um servidor privado, local ou reservado
    [credentials_in_url] contém um usuário ou uma senha
    [port_not_allowed] a porta é de outro protocolo
   *[malformed] não está escrito simplesmente como https://, um servidor e, no máximo, uma porta, um caminho e uma consulta; sem espaços, barras invertidas nem uma parte depois de #
}.
webhook-which = O que é enviado
which-all = Tudo: os { $count } eventos do catálogo, e o que estiver marcado além deles
which-some = Só o que está marcado abaixo
webhook-some-none = Marque ao menos um evento, ou escolha tudo.
webhook-limit = Já há 16 webhooks, que é o limite. Exclua um antes.
hook-once = Copie agora o segredo de assinatura
hook-once-warning = Esta é a única vez que ele é mostrado. Com ele o seu receptor sabe que uma requisição vem daqui. Se o perder, faça a rotação.
hook-once-label = O segredo de assinatura
hook-once-check = Verifique cada requisição com ele, por exemplo em Python; as outras linguagens estão abaixo, na página de todos os webhooks:
hook-once-saved = Já guardei
hook-rotated-warning = Esta é a única vez que ele é mostrado. Até { $at } as requisições são assinadas também com o segredo antigo.
events-title = Os { $count } eventos, e os que vão por nome
events-about = “Tudo” é o catálogo, que são os primeiros { $count }. Os demais são enviados a quem os marca.
receivers-title = Como um receptor verifica uma assinatura
receivers-about = Cada requisição leva um HMAC-SHA256 da sua hora e do seu corpo. Compare em tempo constante, recuse o que tem mais de cinco minutos e responda 2xx em dez segundos; o que você já processou vem com o mesmo id de entrega.
how-webhooks = As entregas das últimas 24 horas às quais o receptor respondeu com 2xx, de todas as que deviam ser enviadas a ele nesse tempo e que deram certo ou falharam de vez. Se houve mais de { $most } para todos os endereços, contam as { $most } mais novas.
hook-waiting = A enviar
hook-fired = Tentativas até agora
hook-failed = Tentativas que falharam
deliveries-title = Entregas, as mais novas primeiro
deliveries-followed = Entregas, as mais novas primeiro, relidas a cada três segundos até { $at }
follow = Acompanhar ao vivo
follow-no = não
follow-yes = por dez minutos
follow-stop = Parar de acompanhar
deliveries-none = Nada que corresponda foi enviado. Mande um teste, ou limpe os filtros.
deliveries-none-yet = Nenhuma das entregas vistas corresponde. A próxima página vê as anteriores.
delivery-event = Evento
delivery-state = Estado
delivery-answer = Resposta
delivery-attempts = Tentativas
delivery-next = Próxima tentativa
delivery-created = Hora
delivery-of = { $made } de { $all }
delivery-pending = A enviar
delivery-retrying = Tentando de novo
delivery-held = Retida
delivery-delivered = Entregue
delivery-failed = Falhou
delivery-canceled = Cancelada
no-answer = sem resposta
how-deliveries = Uma entrega é um evento a um endereço. Tenta-se oito vezes em cerca de 28 horas: após 5 segundos, 5 minutos, 30 minutos, 2, 5, 10 e 10 horas. As entregas são guardadas por três meses.
filter = Filtrar
filter-clear = Limpar
any = Todos
from = De
to = Até
test-title = Enviar um teste
test-about = Um exemplo do evento é enviado na hora, mesmo que o webhook não o peça, e não se tenta de novo.
test-send = Enviar teste
pause-title = Pausar
pause-about = O que acontecer nesse meio tempo é guardado, e pode ser enviado quando você o ligar de novo.
pause = Pausar
resume-title = Ligar
resume-about = A partir daí o que acontece é enviado de novo. O que foi retido também pode sair, o mais antigo primeiro.
resume = Ligar
resume-held = Ligar e enviar o que foi retido
rotate-title = Rotacionar o segredo
rotate-about = Um segredo novo passa a valer na hora. Durante a sobreposição as requisições são assinadas com ambos. Só um segredo anterior é guardado: se você o rotacionar de novo, o de antes termina na hora.
rotate-secret = Rotacionar segredo
overlap = O antigo assina também
replay-title = Reenviar um período
replay-about = Envia de novo as entregas de um período, com os mesmos ids. Primeiro você vê quantas são.
replay-count = Contar
replay-which = Quais
replay-failed-only = As que falharam
replay-everything = Todas, também as entregues
replay-counted = { $count_n ->
    [0] Não há nenhuma neste período.
    [one] { $count } entrega seria enviada de novo.
   *[other] { $count } entregas seriam enviadas de novo, as mais antigas primeiro.
}
replay-period = De { $first } a { $last }.
replay-start = Enviar de novo
replay-started = { $count_n ->
    [one] O reenvio começou: sai { $count } entrega.
   *[other] O reenvio começou: saem { $count } entregas, as mais antigas primeiro.
}
replay-running = Já há um reenvio em curso: um por vez por webhook, três por loja. Tente quando terminar.
delete-title = Excluir o webhook
delete-about = Nada mais é enviado para lá, para sempre. O que espera é cancelado; o que foi enviado fica no registro até completar três meses.
delete = Excluir webhook
hook-deleted = Webhook excluído.
hook-paused = Está pausado.
hook-resumed = Está ligado.
hook-sent-before = Este formulário já tinha sido enviado. O segredo que ele criou foi mostrado naquele momento, essa única vez: se não o guardou, faça a rotação.
delivery-attempt = Tentativa
delivery-where = Onde o tempo foi gasto (ms)
delivery-total = Total (ms)
delivery-answered = O que foi respondido
delivery-about-next = A próxima tentativa: { $at }.
delivery-about-done = Deu certo: { $at }.
delivery-about-failed = Todas as tentativas foram em vão, a última: { $at }.
delivery-about-held = Espera até o webhook ser ligado.
delivery-about-canceled = O webhook foi excluído antes de ela ser enviada.
delivery-about-underway = Está sendo enviada neste momento.
attempts-title = Tentativas
attempts-none = Ainda não houve nenhuma tentativa.
how-attempts = Os tempos são nossos: serviço de nomes, conexão, handshake TLS e até o primeiro byte da resposta. Uma conexão mantida não precisa mais dos três primeiros. De uma resposta guardam-se os primeiros 16 KiB.
phase-dns = DNS { $ms }
phase-connect = conexão { $ms }
phase-tls = TLS { $ms }
phase-first-byte = primeiro byte { $ms }
phase-vain = sem resposta em { $ms }
attempt-url_refused = A este endereço não se pode enviar
attempt-name_not_resolved = O nome do servidor não é conhecido
attempt-address_refused = O servidor está em um endereço ao qual não se pode enviar
attempt-connection_refused = Nada escuta ali
attempt-connection_failed = Não se chega ao servidor
attempt-tls_failed = Não houve conexão segura
attempt-connection_closed = O receptor encerrou sem responder
attempt-invalid_answer = O que chegou não é HTTP
attempt-timed_out = Não houve resposta a tempo
redirected = Apontava para { $to }, que não é seguido
sent-title = O que foi enviado
sent-size = application/json, { $bytes_n ->
    [one] { $bytes } byte
   *[other] { $bytes } bytes
}
sent-headers = Cabeçalhos e assinatura
sent-headers-note = Os da última tentativa, assinados com o segredo de hoje: após uma rotação, uma tentativa anterior levava outros.
resend-title = Enviar de novo
resend-about = Sai na hora com o mesmo id e todas as suas tentativas pela frente. Um receptor que já a processou deve reconhecê-la pelo id.
resend = Reenviar agora
resent = Está a caminho de novo.
event-purchase-created = Um pagamento foi creditado
event-credits-low = Um débito deixou o saldo baixo
event-credits-depleted = Um débito deixou o saldo em zero
event-credits-recharged = Uma recarga foi feita
event-alert-fired = O limite de um alerta foi cruzado
event-anomaly-detected = Uma métrica saiu da faixa esperada
event-usage-threshold_crossed = O custo de IA do mês cruzou um limite
event-ai-paused = A IA foi pausada
event-ai-resumed = A IA foi retomada
event-integration-connected = Loja, conta de anúncios ou perfil: conexão feita
event-integration-revoked = A permissão de uma loja terminou
event-subscription-activated = Uma assinatura foi ativada ou reativada
event-social-auto_reply_sent = Um comentário foi respondido com um modelo aprovado
event-credit-consumed = Créditos foram consumidos
event-credit-refunded = Créditos foram devolvidos
event-integration-disconnected = Loja, conta de anúncios ou perfil: conexão encerrada
event-integration-broken = Uma loja parou de responder
event-creative-winner-detected = Um anúncio se destacou
event-inventory-low_stock = Um produto está acabando
