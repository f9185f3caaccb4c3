enter-title = Look at the demo shop
enter-what = This link opens the demo shop in this browser. It works once.
enter-go = Open the demo shop
enter-gone = This link no longer works
enter-gone-what = It was used already, or it is too old. The command { $command } makes another one.
login-title = Log in
login-needed = You are not logged in, or your session has ended.
login-how = Open the link that { $command } prints.
