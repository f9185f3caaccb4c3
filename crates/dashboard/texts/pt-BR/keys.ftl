keys-about = Uma chave permite que um programa leia ou altere os dados desta loja.
keys-about-test = Uma chave da loja de teste: o programa que a tem lê e altera só a loja de teste.
keys-working = Válidas
keys-ended = Encerradas
keys-working-title = { $count_n ->
    [one] { $count } chave válida
   *[other] { $count } chaves válidas
}
keys-ended-title = { $count_n ->
    [one] { $count } chave que não funciona mais
   *[other] { $count } chaves que não funcionam mais
}
keys-working-none = Ainda não há nenhuma chave. Um programa precisa de uma para enviar pedidos e eventos, e para ler os números desta loja.
keys-ended-none = Nenhuma chave foi revogada nem terminou.
keys-exact = “Último uso” é exato a 5 minutos
keys-rotating = Como funciona a rotação
keys-rotating-how = Você recebe uma chave nova na hora, com o mesmo nome e acesso. A antiga continua funcionando pelo tempo que você escolher, no máximo 7 dias, para que nada pare enquanto você a troca.
key-name = Nome
key-name-help = O que a usa, por exemplo “Sincronização do depósito”.
key-name-bad = Escreva um nome de 1 a 100 caracteres.
key-limit = Pode haver no máximo 100 chaves válidas. Revogue uma antes.
key-unnamed = Chave { $prefix }…
key-prefix = Chave
key-access = Acesso
key-access-none = Escolha ler, escrever ou ambos.
key-made = Criada
key-last-used = Último uso
key-ends = Termina
key-ends-in = em { $days_n ->
    [one] { $days } dia
   *[other] { $days } dias
}, em { $day }
key-ended-on = Terminou em { $day }
key-revoked-on = Revogada em { $day }
never = nunca
access-read = Ler
access-write = Escrever
access-both = Ler e escrever
scope-read = Ler: números, clientes, estoque e os avisos à loja
scope-write = Escrever: enviar eventos e pedidos, gerir webhooks e alertas, decidir sobre sugestões
key-new = Criar uma chave
key-create = Criar chave
key-once = Copie agora a chave “{ $name }”
key-once-warning = Esta é a única vez que ela é mostrada. Se a perder, faça a rotação para obter uma nova.
key-once-label = A chave
key-once-try = Experimente:
key-once-saved = Já guardei
key-rotate = Rotacionar a chave
key-overlap = A chave antiga continua
key-overlap-none = não: termina agora mesmo
key-overlap-hours = { $count_n ->
    [one] por { $count } hora
   *[other] por { $count } horas
}
key-revoke = Revogar a chave
key-revoke-what = Ela termina na hora e para sempre: o que a usa recebe desde então o erro “key_revoked”.
key-revoked = Chave revogada.
key-sent-before = Este formulário já tinha sido enviado. A chave que ele criou foi mostrada naquele momento, essa única vez: se não a guardou, faça a rotação.
