# Why a line of a file is refused.

refused-too-long = a linha é longa demais
refused-open-quote = falta fechar as aspas
refused-behind-quote = há texto depois das aspas de fechamento
refused-zero = contém o caractere U+0000
refused-not-utf-8 = não é UTF-8; tente com --latin1
refused-columns = tem { $found } colunas em vez de { $expected }
refused-with = a linha { $line }, do mesmo pedido, foi recusada
refused-above-it = linhas anteriores do pedido { $order } que foram recusadas com ela: { $count }; importe todas de novo
refused-order-apart = a primeira linha do pedido, a que tem o total, não está acima ou foi recusada
refused-unknown-sku = nenhum produto tem este SKU
refused-synced = { $name } está conectado e já informou o dia { $date }; um arquivo não pode mudá-lo
refused-amount = a quantidade vezes o preço é 10^12 ou mais

# Of a field.
refused-empty = { $field } está vazio
refused-creative-without-ad = { $field } está vazio, mas há um criativo
refused-characters = { $field } tem mais de { $most } caracteres
refused-rounded = { $field } foi arredondado por uma planilha; use o número da exportação original
refused-formula-error = { $field } é o erro de uma fórmula; use o valor da exportação original
refused-one-of = { $field } não é nenhum de { $allowed }
refused-currency = { $field } não é um código ISO 4217, como USD
refused-other-currency = { $field } não é a moeda da conta, { $currency }
refused-own-currency = { $field } é a da própria conta; uma taxa de câmbio diz quanto dela vale uma unidade de outra
refused-rate = { $field } precisa ser maior que 0 e no máximo { $most }

refused-negative = { $field } é negativo
refused-between = { $field } não está entre { $least } e { $most }
refused-not-a-number = { $field } não é um número
refused-not-whole = { $field } não é um número inteiro
refused-decimals-of-amount = { $field } tem mais de 6 casas decimais
refused-decimals-of-rate = { $field } tem mais de 10 casas decimais
refused-too-large = { $field } é 10^12 ou mais
refused-above = { $field } é maior que 10^9
refused-ambiguous = { $by ->
    [command] { $field } pode ter milhares ou decimais; informe --decimal-comma, ou escreva outra quantidade de casas decimais
   *[page] { $field } pode ter milhares ou decimais; informe que a vírgula separa os decimais, ou escreva outra quantidade de casas decimais
}

refused-not-a-date = { $field } não é uma data
refused-no-year = { $field } não tem um ano de quatro dígitos
refused-not-year-first = { $field } não começa pelo ano
refused-no-month = { $field } não tem um mês válido (dia e mês trocados?)
refused-no-day = { $field } não tem um dia válido
refused-outside = { $field } está fora dos anos de 1970 a 2100
refused-future = { $field } está no futuro
refused-not-a-time = { $field } não tem um horário válido
refused-not-an-offset = { $field } tem um fuso desconhecido; escreva Z ou um como -03:00
refused-undecided = { $by ->
    [command] { $field } pode ser dia/mês ou mês/dia; informe com --date-format dmy ou mdy
   *[page] { $field } pode ser dia/mês ou mês/dia; informe qual
}

# Why a whole file is.

file-empty = o arquivo está vazio; a primeira linha deve nomear as colunas
file-no-header = a primeira linha deve nomear as colunas, mas { $why }
file-utf-16 = o arquivo está em UTF-16; salve-o em UTF-8
file-packed = é um arquivo ZIP ou do Excel; salve-o como CSV
file-damaged = o arquivo está danificado ou incompleto; compacte-o de novo ou envie-o sem compactar
file-bare-returns = as linhas do arquivo terminam só com CR; salve-o com LF ou CR LF
file-too-large = descompactado, o arquivo ocupa mais de { $most } GB; divida-o, com todas as linhas de um pedido na mesma parte
file-refused-orders = mais de { $most } pedidos têm uma linha que não pode ser aceita; corrija o arquivo ou informe como ele deve ser lido
file-refused-lines = mais de { $most } MB das linhas não podem ser aceitos; corrija o arquivo ou informe como ele deve ser lido
file-columns = o arquivo tem { $found } colunas; pode ter até { $most }
file-no-column = não há nenhuma coluna `{ $column }` (colunas: { $columns })
file-unknown-field = --map não conhece o campo `{ $name }` (campos: { $fields })
file-missing-columns = { $by ->
    [command] nenhuma coluna para { $missing }; o arquivo tem as colunas { $columns }; informe-as com --map { $first }=COLUNA
   *[page] nenhuma coluna para { $missing }; o arquivo tem as colunas { $columns }
}
file-undecided = { $by ->
    [command] as datas podem ser dia/mês ou mês/dia; informe com --date-format dmy ou mdy
   *[page] as datas podem ser dia/mês ou mês/dia; informe qual
}
