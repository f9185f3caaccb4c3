# What the probes say of an incident: its title, by the component, and what is told as it goes on.

incident-api-slow = La API responde con lentitud
incident-api-down = La API no responde
incident-database-slow = La base de datos responde con lentitud
incident-database-down = La base de datos no responde
incident-jobs = Las cifras calculadas llegan con retraso
incident-webhooks = Las entregas de webhooks llegan con retraso
incident-social = Las respuestas a los comentarios llegan con retraso

incident-opened = Nuestras sondas lo observan desde la hora indicada. Lo estamos investigando.
incident-raised = Continúa y ahora lo consideramos más grave.
incident-monitoring = Nuestras sondas ven que todo vuelve a funcionar. Seguimos observando.
incident-again = Nuestras sondas vuelven a observarlo. Lo estamos investigando.
incident-over = Nuestras sondas ven que todo funciona desde hace 20 minutos. El incidente ha terminado.

# How the service is, by the worst of the incidents that go on.

incidents-none = Todos los sistemas funcionan con normalidad
incidents-minor = Problemas leves
incidents-major = Problemas importantes
incidents-critical = Problemas críticos
