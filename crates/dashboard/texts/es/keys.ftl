keys-about = Una clave permite a un programa leer o cambiar los datos de esta tienda.
keys-about-test = Una clave de la tienda de prueba: el programa que la tiene lee y cambia solo la tienda de prueba.
keys-working = Vigentes
keys-ended = Terminadas
keys-working-title = { $count_n ->
    [one] { $count } clave vigente
   *[other] { $count } claves vigentes
}
keys-ended-title = { $count_n ->
    [one] { $count } clave que ya no funciona
   *[other] { $count } claves que ya no funcionan
}
keys-working-none = Aún no hay ninguna clave. Un programa necesita una para enviar pedidos y eventos, y para leer las cifras de esta tienda.
keys-ended-none = No se revocó ni terminó ninguna clave.
keys-exact = «Último uso» es exacto a 5 minutos
keys-rotating = Cómo funciona la rotación
keys-rotating-how = Recibes una clave nueva al instante, con el mismo nombre y acceso. La anterior sigue funcionando el tiempo que elijas, como máximo 7 días, para que nada se detenga mientras la cambias.
key-name = Nombre
key-name-help = Qué la usa, por ejemplo «Sincronización del depósito».
key-name-bad = Escribe un nombre de 1 a 100 caracteres.
key-limit = Puede haber como máximo 100 claves vigentes. Revoca una antes.
key-unnamed = Clave { $prefix }…
key-prefix = Clave
key-access = Acceso
key-access-none = Elige leer, escribir o ambos.
key-made = Creada
key-last-used = Último uso
key-ends = Termina
key-ends-in = en { $days_n ->
    [one] { $days } día
   *[other] { $days } días
}, el { $day }
key-ended-on = Terminó el { $day }
key-revoked-on = Revocada el { $day }
never = nunca
access-read = Leer
access-write = Escribir
access-both = Leer y escribir
scope-read = Leer: cifras, clientes, stock y los avisos a la tienda
scope-write = Escribir: enviar eventos y pedidos, gestionar webhooks y alertas, decidir sobre sugerencias
key-new = Crear una clave
key-create = Crear clave
key-once = Copia ahora la clave «{ $name }»
key-once-warning = Es la única vez que se muestra. Si la pierdes, rota la clave para obtener una nueva.
key-once-label = La clave
key-once-try = Pruébala:
key-once-saved = Ya la guardé
key-rotate = Rotar la clave
key-overlap = La clave anterior sigue
key-overlap-none = no: termina ahora mismo
key-overlap-hours = { $count_n ->
    [one] { $count } hora
   *[other] { $count } horas
}
key-revoke = Revocar la clave
key-revoke-what = Termina al instante y para siempre: lo que la use recibe desde entonces el error «key_revoked».
key-revoked = Clave revocada.
key-sent-before = Este formulario ya se había enviado. La clave que creó se mostró entonces, esa única vez: si no la guardaste, rótala.
