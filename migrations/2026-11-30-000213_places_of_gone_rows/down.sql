DROP TABLE gone_places;
