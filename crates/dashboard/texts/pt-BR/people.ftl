enter-title = Veja a loja de demonstração
enter-what = Este link abre a loja de demonstração neste navegador. Funciona uma única vez.
enter-go = Abrir a loja de demonstração
enter-gone = Este link não funciona mais
enter-gone-what = Ele já foi usado, ou é antigo demais. O comando { $command } cria outro.
login-title = Entrar
login-needed = Você não entrou, ou a sua sessão terminou.
login-how = Abra o link que { $command } mostra.
