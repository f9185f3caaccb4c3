# What the probes say of an incident: its title, by the component, and what is told as it goes on.

incident-api-slow = A API está respondendo devagar
incident-api-down = A API não responde
incident-database-slow = O banco de dados está respondendo devagar
incident-database-down = O banco de dados não responde
incident-jobs = Os números calculados estão atrasados
incident-webhooks = As entregas de webhooks estão atrasadas
incident-social = As respostas aos comentários estão atrasadas

incident-opened = Nossas sondas observam isso desde o horário indicado. Estamos investigando.
incident-raised = Continua e agora o consideramos mais grave.
incident-monitoring = Nossas sondas veem tudo funcionando de novo. Continuamos observando.
incident-again = Nossas sondas voltaram a observar isso. Estamos investigando.
incident-over = Nossas sondas veem tudo funcionando há 20 minutos. O incidente terminou.

# How the service is, by the worst of the incidents that go on.

incidents-none = Todos os sistemas funcionam normalmente
incidents-minor = Problemas leves
incidents-major = Problemas importantes
incidents-critical = Problemas críticos
