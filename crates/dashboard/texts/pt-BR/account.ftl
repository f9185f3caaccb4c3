# As configurações de uma loja, e de quem a olha.
account = Conta
you = Você
your-name = Seu nome
your-name-bad = Escreva um nome de 1 a 100 caracteres.
your-language = Idioma destas páginas
your-theme = Cores
language-of-shop = O da loja
theme-system = Como o dispositivo
theme-light = Claro
theme-dark = Escuro
save = Salvar
saved = Salvo.
shop-title = A loja
shop-currency = Todos os valores estão em { $currency }. Uma loja mantém sua moeda.
shop-plan = Plano: { $plan }.
plan-free = gratuito
plan-starter = Starter
plan-pro = Pro
plan-scale = Scale
shop-owners = Quem muda isto são os proprietários.
shop-zone-is = Os dias começam e terminam em { $zone }.
shop-costs-are = Quando um pedido não diz o que custou: uma taxa de { $rate } e { $fixed } { $currency }, { $shipping } { $currency } de frete, e mercadoria por { $cogs } da receita.
zone-cuts = Marca quando cada dia começa e termina. Se você o mudar, todos os dias são calculados de novo.
shop-language = Idioma dos textos
shop-country = Números e datas como em
shop-country-help = Por exemplo, 1.234,56 no Brasil e 1,234.56 no México.
country-usual = Como é usual no idioma
shop-holidays = Feriados de
shop-holidays-help = Nesses dias não se procuram anomalias, e eles não contam para saber o que é normal.
holidays-none = Nenhum país
fee-rate = Taxa, % da receita
fee-rate-help = Quando a loja não informa o que um pedido custou.
fee-fixed = Taxa por pedido
shipping-per-order = Frete de cada pedido
shipping-help = Quando não é informado.
cogs-ratio = Custo das mercadorias, % da receita
cogs-help = Quando não se conhece o custo do produto nem o da sua categoria.
choose-one = Escolha um da lista.
share-wrong = Escreva uma porcentagem de 0 a 100, com no máximo três decimais.
amount-wrong = Escreva um valor de 0 ou mais, com no máximo seis decimais.
elsewhere = Mais configurações
action-account-changed = Mudou a conta

export = Exportar
export-what = Um arquivo com tudo o que a conta tem: pedidos, clientes, produtos, números, configurações, entregas, créditos, a atividade. É NDJSON comprimido com gzip, uma linha por registro com a tabela a que pertence. Segredos, como chaves e senhas, não estão nele.
export-kept = Pode ser baixado durante { $days } dias.
export-go = Criar um arquivo
export-leave = O arquivo está sendo criado. Você pode sair da página; ele continua.
exports = Arquivos
export-of = Solicitado: { $time }
export-queued = Espera a vez.
export-running = { $rows } linhas até agora.
export-done = { $rows } linhas, { $size }, pronto desde { $time }.
export-failed = Algo deu errado no serviço ({ $time }). Peça de novo.
export-fetch = Baixar o arquivo de { $time }
action-export-requested = Pediu uma exportação
action-export-fetched = Baixou uma exportação

erase = Excluir a conta
erase-what = A loja real e a de teste de { $shop } são excluídas, com tudo o que há nelas, e com as pessoas que não pertencem a outra loja. Dos créditos ficam os valores para a contabilidade, sem nome.
erase-now = As chaves e os acessos de todos terminam na hora.
erase-undo-for = Por { $days } dias um proprietário pode entrar e desfazer. Depois nada se recupera.
erase-export = Antes, leve um arquivo com tudo
erase-name = Escreva o nome da loja
erase-name-wrong = Esse não é o nome da loja. Nada foi mudado.
erase-go = Excluir a conta
erase-coming = A conta é excluída em { $day } às { $time }. Até lá você pode desfazer.
erase-ended = As chaves de API que deixaram de funcionar não voltam: crie outras.
erase-undo = Manter a conta
erase-asked = A conta é excluída em { $day }. Até lá um proprietário pode entrar e mantê-la. A sessão de todos foi encerrada.
erase-notice = Esta conta é excluída em { $day }. Mantê-la
action-erasure-requested = Pediu a exclusão da conta
action-erasure-undone = Manteve a conta
action-customer-data-fetched = Baixou os dados de um cliente
action-customer-forgotten = Apagou os dados de um cliente

system = Sistema
job-late = Atraso
job-on-time = No prazo
job-behind = { $hours_n ->
    [one] { $hours } hora de atraso
   *[other] { $hours } horas de atraso
}
how-late = Cada tarefa roda para cada dia da conta, logo que ele começa. Daí até terminar, está atrasada.
queues-title = O que espera
queue = Fila
queue-waiting = Esperam
queue-since = Pendente desde
queue-deliveries = Entregas a webhooks
queue-held = Entregas de webhooks desligados
queue-inbox = Avisos de plataformas
queue-uploads = Arquivos a importar
queue-exports = Arquivos a exportar
queue-top_ups = Recargas automáticas
how-queues = O que espera desta conta. É atendido em segundos; uma nova tentativa espera sua hora. De cada webhook contam-se até { $most } entregas.
versions-title = Versões
version-of = Parte
version = Versão
version-program = Serviço
version-schema = Esquema do banco de dados
version-database = PostgreSQL
how-versions = A versão do serviço, a migração mais nova do seu banco de dados, e o que o banco diz de si.

# Notas dos dias.
notes-title = Notas
notes-none = Ninguém escreveu nada sobre este dia.
note = Nota
note-write = Escrever uma nota
note-help = O que todos deveriam saber deste dia, em uma linha de no máximo { $most } caracteres. Aparece no gráfico da visão geral.
note-save = Salvar nota
note-by = { $name }, { $time }
note-remove = Remover “{ $text }”
note-and-more = { $text } (+{ $count })
note-mark = { $text }: nota de { $day }
your-shops = Suas lojas
shop-here = { $role } · a que você está olhando
shop-go = Ir para { $shop }
key-made-by = Criada por
action-key-made = Criou uma chave
action-key-rotated = Rotacionou uma chave
action-key-revoked = Revogou uma chave
action-reorder-decided = Decidiu sobre uma reposição

# Do que trata a atividade.
activity-about = Sobre
activity-sandbox = Loja de teste
activity-none = Nada foi feito que corresponda.
noted-field = { $field ->
    [role] papel
    [scopes] permissões
    [template_id] modelo
    [status] estado
    [handling] quem responde
    [correct] correto
    [channel] canal
    [platform] plataforma
    [kind] tipo de arquivo
    [text] texto
    [events] eventos
    [active] ligado
    [since] de
    [until] até
    [states] estados
    [deliveries] entregas
    [name] nome
    [metric] vigia
    [comparator] dispara quando está
    [threshold] limite
    [window_hours] em quantas horas
    [severity] gravidade
    [cooldown_hours] silêncio após disparar, horas
    [enabled] ligado
    [top_up_amount] compra
    [monthly_cap] no máximo por mês
    [mode] modo
    [hours] horário
    [per_user_day] respostas a uma pessoa por dia
    [per_post_hour] respostas em uma publicação por hora
    [per_account_hour] respostas por hora no total
    [categories_auto] respondido automaticamente
    [opt_out_words] palavras com que as pessoas pedem para ser deixadas em paz
    [own_hosts] sites a que as respostas podem levar
    [link] link
    [model_vote] segunda opinião de um modelo de linguagem
    [zone] fuso horário
    [language] idioma
    [country] números e datas como em
    [holidays] feriados de
    [fee_rate] taxa, % da receita
    [fee_fixed] taxa, parte fixa
    [shipping] frete de um pedido
    [cogs] custo das mercadorias, % da receita
   *[other] { $name }
}
area-access = Acessos
area-people = Pessoas
area-account = Conta
area-keys = Chaves de API
area-webhooks = Webhooks
area-alerts = Alertas
area-integrations = Lojas conectadas
area-data = Arquivos e cálculo
area-decisions = Decisões e notas
area-credits = Créditos
area-conversations = Conversas
action-insight-decided = Decidiu sobre uma novidade
action-note-written = Escreveu uma nota sobre
action-note-removed = Removeu uma nota sobre
action-webhook-made = Adicionou um webhook
action-webhook-changed = Alterou um webhook
action-webhook-deleted = Excluiu um webhook
action-webhook-secret-rotated = Rotacionou o segredo de um webhook
action-webhook-tested = Enviou uma amostra a um webhook
action-delivery-resent = Reenviou uma entrega
action-deliveries-replayed = Reenviou as entregas de um período
action-alert-made = Criou um alerta
action-alert-changed = Alterou um alerta
action-alert-muted = Silenciou um alerta
action-alert-unmuted = Ligou um alerta de novo
action-alert-deleted = Excluiu um alerta
action-shop-connected = Conectou uma loja
action-shop-sync-requested = Mandou ler uma loja
action-shop-disconnected = Desconectou uma loja
action-profile-connected = Conectou um perfil
action-profile-disconnected = Desconectou um perfil
action-import-started = Importou um arquivo
action-upload-discarded = Descartou um arquivo
action-jobs-requested = Mandou calcular tudo
action-insights-requested = Mandou gerar as novidades
action-auto-topup-changed = Alterou a recarga automática
action-checkout-opened = Abriu uma compra de créditos
