# O que todas as páginas têm em comum. $x é um valor já escrito, $x_n o seu número, pelo qual se escolhe a forma de uma palavra.

skip = Ir para o conteúdo
menu = Menu
main = Principal
shop = Loja
connections = Conexões
overview = Visão geral
profit = Lucro
insights = Novidades
reorder = Reposição
anomalies = Anomalias
stock = Estoque
customers = Clientes
data = Dados
webhooks = Webhooks
keys = Chaves de API
credits = Créditos
live-shop = Loja real
test-shop = Loja de teste
to-test = Mudar para a de teste
to-live = Mudar para a real
settings = Configurações
log-out = Sair

copy = Copiar
copied = Copiado
keyboard = Teclado
keys-title = Teclas
keys-on = As teclas estão ativas
close = Fechar
keys-chart = ← e → percorrem o gráfico que tem o foco.
keys-list = Esta lista
as-of = Atualizado: { $time }
never-computed = Ainda não calculado
table = Tabela
chart-as-table = O gráfico como tabela
calculated = Como é calculado
column-day = Dia
today-so-far = { $day } (até agora)
range = { $low } a { $high }
unknown = desconhecido
see-why = Ver por quê
all-of = Ver { $count }

date-short = { $date } { month-short }
date-weekday = { weekday-short } { $date } { month-short }
date-full = { $day }
date-range = { $first } – { $last } { $year }
day-of-year = { $day } { $year }
moment-day = { $day }, { $time }
points-short = { $number_n ->
    [one] { $number } ponto
   *[other] { $number } pontos
}
weekday-short = { $weekday_n ->
    [1] seg
    [2] ter
    [3] qua
    [4] qui
    [5] sex
    [6] sáb
   *[7] dom
}
month-short = { $month_n ->
    [1] jan
    [2] fev
    [3] mar
    [4] abr
    [5] mai
    [6] jun
    [7] jul
    [8] ago
    [9] set
    [10] out
    [11] nov
   *[12] dez
}

error-not-found = Essa página não existe
error-not-found-what = O endereço pode estar errado, ou o que havia ali não existe mais.
error-logged-out = Você não entrou na sua conta
error-logged-out-what = A sessão terminou. Abra a visão geral, entre e tente de novo.
error-forbidden = O seu papel não permite isso
error-forbidden-what = Peça a um proprietário da conta que faça isso, ou que mude o seu papel.
error-cross-site = A requisição veio de outro site
error-cross-site-what = Nada foi alterado. Abra a página aqui e tente de novo.
error-other-shop = Esta página é de outra loja
error-other-shop-what = Depois de abrir esta página, você passou em outra aba ou janela para outra loja, ou da real para a de teste. Nada foi alterado. Volte primeiro para essa loja, ou abra a página de novo.
error-unavailable = O serviço está ocupado
error-unavailable-what = Nada foi alterado. Tente de novo em um momento.
error-internal = Algo deu errado aqui
error-internal-what = O erro ficou em nosso registro com este número: { $request }
error-conflict = Isso mudou nesse meio tempo
error-conflict-what = Alguém já decidiu sobre isso, ou há algo mais novo sobre o mesmo assunto. Nada foi alterado; volte e veja de novo.
error-too-slow = Demorou demais
error-too-slow-what = O formulário não chegou em dez segundos. Nada foi alterado; envie-o de novo.
error-too-large = Esse arquivo é grande demais
error-too-large-what = Um arquivo pode ter até 200 MB, compactado com gzip ou não. Nada foi guardado; divida-o e importe as partes.
error-too-many-files = Arquivos demais em espera
error-too-many-files-what = Vinte arquivos esperam para ser importados, ou os arquivos e as linhas recusadas ocupam 4 GB. Importe alguns, ou descarte-os, antes de outro; as linhas recusadas são apagadas após 30 dias.
error-too-many-requests = Requisições demais
error-too-many-requests-what = No último minuto foi pedido mais do que o serviço aceita de uma pessoa. Nada foi alterado; espere um minuto e tente de novo.
error-invalid = Isso não pode ser lido
error-invalid-what = Falta um valor ou ele não é possível. Volte e corrija.
invalid-file = Escolha um arquivo que não esteja vazio.
invalid-days = Falta uma data ou ela não é válida, ou a primeira vem depois da última. Volte e corrija.
invalid-note = Uma nota precisa de um texto, e que não seja longo demais. Volte e corrija.
invalid-customer = Não há cliente com esse número. Volte e corrija.
try-again = Tentar de novo
to-overview = Para a visão geral
search-go = Buscar
found-title = O que começa com “{ $text }”
found-none = Nada começa com isso. Tente um texto mais curto.
