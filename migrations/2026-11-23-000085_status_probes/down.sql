DROP TABLE status_probes;
