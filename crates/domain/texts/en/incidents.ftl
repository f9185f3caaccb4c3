# What the probes say of an incident: its title, by the component, and what is told as it goes on.

incident-api-slow = The API answers slowly
incident-api-down = The API does not answer
incident-database-slow = The database answers slowly
incident-database-down = The database does not answer
incident-jobs = Computed figures are late
incident-webhooks = Webhook deliveries are late
incident-social = Answers to comments are late

incident-opened = Our probes have seen this since the time given. We are looking into it.
incident-raised = It goes on and is now rated as more severe.
incident-monitoring = Our probes see everything working again. We keep watching.
incident-again = Our probes see this again. We are looking into it.
incident-over = Our probes have seen everything working for 20 minutes. The incident is over.

# How the service is, by the worst of the incidents that go on.

incidents-none = All systems operational
incidents-minor = Minor issues
incidents-major = Major issues
incidents-critical = Critical issues
