DROP TABLE incident_watches;
DROP TABLE incident_updates;
DROP TABLE incidents;
