enter-title = Mira la tienda de demostración
enter-what = Este enlace abre la tienda de demostración en este navegador. Funciona una sola vez.
enter-go = Abrir la tienda de demostración
enter-gone = Este enlace ya no funciona
enter-gone-what = Ya se usó, o es demasiado viejo. El comando { $command } crea otro.
login-title = Iniciar sesión
login-needed = No iniciaste sesión, o tu sesión terminó.
login-how = Abre el enlace que muestra { $command }.
